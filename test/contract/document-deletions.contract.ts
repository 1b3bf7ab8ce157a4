import { describe, expect, it } from 'vitest'
import type { WorkspaceDocument } from '../../lib/ledger/ports/document-records.ts'
import { DAY_MS, type useDocuments } from '../support/stores/use-documents.ts'

const { signal } = new AbortController()

/** The part of the contract of document records that takes documents away. */
export function describeDeletions(store: ReturnType<typeof useDocuments>): void {
  const { clock, document, find, findEvenDeleted, recorded, fence, rowOf, deletionOf, deleteDocument, remove } = store
  const handOver = (release: ReturnType<typeof deletionOf>) => store.records.handOver(release, signal)
  const expire = (release: ReturnType<typeof deletionOf>) => store.records.expireTombstone(release, signal)
  const asDeleted = (of: WorkspaceDocument, release?: ReturnType<typeof deletionOf>) => {
    const { workspaceId, documentId, attemptId, objectKey, sizeBytes, countedFrom } = of
    const handedOver = release && { releasedBy: release.releaseId, markedIn: release.markedIn }
    const bytes = { attemptId, objectKey, sizeBytes, countedFrom, ...handedOver }
    return { workspaceId, documentId, ...bytes, isGivenBack: false, isDeleted: true }
  }

  describe('delete', () => {
    it('takes a document away, however often; what it was is remembered, and its bytes are held', async () => {
      const one = await recorded({ ...document(), countedFrom: 7 })
      for (let times = 0; times < 2; times++) {
        expect(await deleteDocument(one)).toEqual({ releasedBy: undefined })
        expect(await find(one)).toBeUndefined()
        expect(await findEvenDeleted(one)).toEqual(asDeleted(one))
        const { documentId, attemptId, sizeBytes } = one
        expect(await rowOf(one)).toEqual({
          documentId,
          counted: { attemptId, sizeBytes, countedFrom: 7 },
          isUnfinished: true,
        })
        clock.nowMs += 30 * DAY_MS
      }
    })

    it('tells which release has the bytes; nothing is left when they were given back', async () => {
      const one = await recorded()
      const deletion = deletionOf(one)
      await deleteDocument(one)
      await handOver(deletion)
      expect(await deleteDocument(one)).toEqual({ releasedBy: deletion.releaseId })
      await expire(deletion)
      expect(await deleteDocument(one)).toBeUndefined()
    })

    it('takes nothing away where there is no document, or one of another attempt', async () => {
      const one = document()
      expect(await deleteDocument(one)).toBeUndefined()
      await fence(one)
      expect(await deleteDocument(one)).toBeUndefined()
      const other = await recorded(document(one.documentId))
      expect(await deleteDocument(one)).toBeUndefined()
      expect(await find(other)).toEqual(other)
      await deleteDocument(other)
      expect(await deleteDocument(one)).toBeUndefined()
      expect(await findEvenDeleted(other)).toEqual(asDeleted(other))
    })

    it('finds nothing of its own any more where a new document was made', async () => {
      const one = await recorded()
      const deletion = await remove(one)
      clock.nowMs += DAY_MS
      const fresh = await recorded(document(one.documentId))
      expect(await deleteDocument(one)).toBeUndefined()
      expect(await handOver(deletion)).toBeUndefined()
      await expire(deletion)
      expect(await find(fresh)).toEqual(fresh)
      expect(await deleteDocument(fresh)).toEqual({ releasedBy: undefined })
    })
  })

  describe('handOver', () => {
    it('hands the bytes to one release, and tells every other which one it is', async () => {
      const one = await recorded({ ...document(), countedFrom: 7 })
      await deleteDocument(one)
      const [first, second] = [deletionOf(one), { ...deletionOf(one), markedIn: 12 }]
      for (const each of [first, second, { ...first, markedIn: 12 }]) expect(await handOver(each)).toBe(first.releaseId)
      const { attemptId, sizeBytes } = one
      const counted = { attemptId, sizeBytes, countedFrom: 7, releasedBy: first.releaseId, markedIn: first.markedIn }
      expect(await rowOf(one)).toEqual({ documentId: one.documentId, counted, isUnfinished: true })
    })

    it('hands them to one of ten at once', async () => {
      const one = await recorded()
      await deleteDocument(one)
      const deletions = Array.from({ length: 10 }, () => deletionOf(one))
      const owners = new Set(await Promise.all(deletions.map(handOver)))
      expect(owners.size).toBe(1)
      expect(deletions.map(({ releaseId }) => releaseId)).toContain([...owners][0])
    })

    it('hands nothing over where nothing is, nor a fence, nor a document, nor the tombstone of another attempt', async () => {
      const [none, fenced, visible, retired] = [document(), document(), await recorded(), await recorded()]
      await fence(fenced)
      await deleteDocument(retired)
      const others = [none, fenced, visible, document(retired.documentId)]
      for (const each of others) expect(await handOver(deletionOf(each))).toBeUndefined()
      expect(await find(visible)).toEqual(visible)
      expect(await deleteDocument(retired)).toEqual({ releasedBy: undefined })
    })

    it('finds that the bytes were given back, by itself or by another', async () => {
      const one = await recorded()
      const deletion = await remove(one)
      for (const each of [deletion, deletionOf(one)]) expect(await handOver(each)).toBeUndefined()
    })
  })

  describe('expireTombstone', () => {
    it('lets the tombstone expire in a day; until then it tells what was deleted', async () => {
      const one = await recorded()
      const deletion = await remove(one)
      const deleted = { ...asDeleted(one, deletion), isGivenBack: true }
      expect(await findEvenDeleted(one)).toEqual(deleted)
      expect(await rowOf(one)).not.toHaveProperty('isUnfinished')
      expect((await rowOf(one))?.counted).toMatchObject({ attemptId: one.attemptId, markedIn: 9 })
      clock.nowMs += DAY_MS - 1000
      expect(await findEvenDeleted(one)).toEqual(deleted)
      clock.nowMs += 1000
      expect(await findEvenDeleted(one)).toBeUndefined()
    })

    it('is done by the release alone that has the bytes', async () => {
      const one = await recorded()
      await expire(deletionOf(one))
      expect(await find(one)).toEqual(one)
      await deleteDocument(one)
      await expire(deletionOf(one))
      const deletion = deletionOf(one)
      await handOver(deletion)
      await expire(deletionOf(one))
      expect(await findEvenDeleted(one)).toEqual(asDeleted(one, deletion))
      await expire(deletionOf(document()))
    })
  })
}
