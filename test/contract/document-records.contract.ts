import { beforeEach, describe, expect, it } from 'vitest'
import type { DocumentId, WorkspaceId } from '../../lib/ids.ts'
import type { DocumentMaintenance } from '../../lib/maintenance/ports.ts'
import type { DocumentRecords, WorkspaceDocument } from '../../lib/promotion/ports.ts'
import { LEASE_END_MS, newDocument, newRelease, newReservation, newWorkspaceId } from '../support/ledger-values.ts'

const { signal } = new AbortController()

export function describeDocumentRecords(name: string, make: () => DocumentRecords & DocumentMaintenance): void {
  describe(`document records: ${name}`, () => {
    let records: DocumentRecords & DocumentMaintenance
    let workspaceId: WorkspaceId
    beforeEach(() => {
      records = make()
      workspaceId = newWorkspaceId()
    })
    /** Each of an attempt later than those before. */
    const document = (documentId?: DocumentId) =>
      newDocument(newReservation({ workspaceId, sizeBytes: 5 * 1024 ** 3, ...(documentId && { documentId }) }))
    const find = (of: WorkspaceDocument) => records.find(of.workspaceId, of.documentId, signal)
    const record = (each: WorkspaceDocument) => records.record(each, signal)
    const recorded = async (each = document()) => {
      expect(await record(each)).toBe('recorded')
      return each
    }
    const rowOf = async ({ documentId }: WorkspaceDocument) => {
      for await (const row of records.listRows(workspaceId, signal)) if (row.documentId === documentId) return row
      return undefined
    }
    const fence = (of: WorkspaceDocument) => records.fence({ ...of, leaseExpiresAtMs: LEASE_END_MS }, signal)
    const deletionOf = (of: WorkspaceDocument) => newRelease(of, 'deletion')
    const remove = async (each: WorkspaceDocument) => {
      const deletion = deletionOf(each)
      expect(await records.retire(deletion, signal)).toMatchObject({ objectKey: each.objectKey })
      await records.finish(deletion, signal)
      return deletion
    }

    describe('record', () => {
      it('makes a document that is found, field by field', async () => {
        const one = await recorded()
        expect(await find(one)).toEqual(one)
      })

      it('makes it under this id and in this workspace only', async () => {
        const one = await recorded()
        expect(await find(document())).toBeUndefined()
        expect(await find({ ...one, workspaceId: newWorkspaceId() })).toBeUndefined()
      })

      it('lets the first of two attempts at a document win', async () => {
        const one = await recorded()
        expect(await record(document(one.documentId))).toBe('taken')
        expect(await find(one)).toEqual(one)
      })

      it('lets one of ten at once win', async () => {
        const first = document()
        const twins = [first, ...Array.from({ length: 9 }, () => document(first.documentId))]
        const outcomes = await Promise.all(twins.map(record))
        expect(outcomes.toSorted()).toEqual(['recorded', ...Array(9).fill('taken')])
        expect(await find(first)).toEqual(twins[outcomes.indexOf('recorded')])
      })

      it('makes a document anew where one was deleted', async () => {
        const one = await recorded()
        await remove(one)
        const fresh = await recorded(document(one.documentId))
        expect(await find(one)).toEqual(fresh)
      })

      it('does not bring the deleted document of its own attempt back', async () => {
        const one = await recorded()
        await remove(one)
        expect(await record(one)).toBe('fenced')
        expect(await find(one)).toBeUndefined()
      })

      it('waits until a deletion has given its bytes back', async () => {
        const one = await recorded()
        const deletion = deletionOf(one)
        await records.retire(deletion, signal)
        expect(await record(document(one.documentId))).toBe('fenced')
        await records.finish(deletion, signal)
        await recorded(document(one.documentId))
      })
    })

    describe('fence', () => {
      it('keeps the late record of an attempt out, for good', async () => {
        const late = document()
        for (let times = 0; times < 2; times++) expect(await fence(late)).toBe('fenced')
        expect(await record(late)).toBe('fenced')
        expect(await find(late)).toBeUndefined()
      })

      it('finds that the attempt has recorded, and leaves its document', async () => {
        const one = await recorded()
        expect(await fence(one)).toBe('recorded')
        expect(await find(one)).toEqual(one)
      })

      it('finds that the attempt has recorded a document that was deleted since', async () => {
        const one = await recorded()
        const deletion = deletionOf(one)
        await records.retire(deletion, signal)
        expect(await fence(one)).toBe('recorded')
        await records.finish(deletion, signal)
        expect(await fence(one)).toBe('recorded')
      })

      it('keeps out all attempts up to the one it fences, and none later', async () => {
        const [first, second, third] = [document(), document(), document()]
        const at = (each: WorkspaceDocument) => ({ ...each, documentId: first.documentId })
        expect(await fence(at(second))).toBe('fenced')
        for (const early of [first, second]) expect(await record(at(early))).toBe('fenced')
        await recorded(at(third))
      })

      it.each([
        ['the earlier first', [0, 1]],
        ['the later first', [1, 0]],
      ])('keeps two attempts out, %s', async (_, order) => {
        const first = document()
        const both = [first, document(first.documentId)]
        for (const index of order) expect(await fence(both[index] as WorkspaceDocument)).toBe('fenced')
        for (const each of both) expect(await record(each)).toBe('fenced')
        await recorded(document(first.documentId))
      })

      it('keeps an attempt out beside the document of another, and after that was deleted', async () => {
        const late = document()
        const other = await recorded(document(late.documentId))
        const later = document(late.documentId)
        for (const each of [late, later]) expect(await fence(each)).toBe('fenced')
        expect(await find(other)).toEqual(other)
        const deletion = deletionOf(other)
        await records.retire(deletion, signal)
        for (const each of [late, later]) expect(await record(each)).toBe('fenced')
        await records.finish(deletion, signal)
        for (const each of [late, later]) expect(await record(each)).toBe('fenced')
        await recorded(document(late.documentId))
      })

      it('keeps an attempt out that it met while the document was being deleted', async () => {
        const one = await recorded()
        const late = document(one.documentId)
        const deletion = deletionOf(one)
        await records.retire(deletion, signal)
        expect(await fence(late)).toBe('fenced')
        expect(await records.retire(deletion, signal)).toMatchObject({ objectKey: one.objectKey })
        await records.finish(deletion, signal)
        expect(await record(late)).toBe('fenced')
      })

      it('lets a later attempt record where an earlier one was fenced, and still keeps that one out', async () => {
        const late = document()
        await fence(late)
        const other = await recorded(document(late.documentId))
        expect(await record(late)).toBe('taken')
        await remove(other)
        expect(await record(late)).toBe('fenced')
      })
    })

    describe('retire', () => {
      it('takes a document away for the one deletion that comes first, however often it comes', async () => {
        const one = await recorded()
        const [first, second] = [deletionOf(one), deletionOf(one)]
        for (let times = 0; times < 2; times++) {
          expect(await records.retire(first, signal)).toMatchObject({ objectKey: one.objectKey })
          expect(await find(one)).toBeUndefined()
        }
        expect(await records.retire(second, signal)).toBeUndefined()
        expect((await rowOf(one))?.counted).toMatchObject([{ state: 'retired', retiredBy: first.releaseId }])
        await records.finish(first, signal)
        expect(await records.retire(first, signal)).toMatchObject({ objectKey: one.objectKey })
        expect(await records.retire(second, signal)).toBeUndefined()
      })

      it('takes a document away for one of ten at once', async () => {
        const one = await recorded()
        const deletions = Array.from({ length: 10 }, () => deletionOf(one))
        const retired = await Promise.all(deletions.map((each) => records.retire(each, signal)))
        expect(retired.filter((each) => each !== undefined)).toMatchObject([{ objectKey: one.objectKey }])
      })

      it('takes nothing away where there is no document, or one of another attempt', async () => {
        const one = document()
        const deletion = deletionOf(one)
        expect(await records.retire(deletion, signal)).toBeUndefined()
        const other = await recorded(document(one.documentId))
        expect(await records.retire(deletion, signal)).toBeUndefined()
        expect((await rowOf(other))?.counted).toMatchObject([{ state: 'document', attemptId: other.attemptId }])
        expect(await find(other)).toEqual(other)
      })

      it('finds nothing of its own any more where a new document was made', async () => {
        const one = await recorded()
        const deletion = await remove(one)
        const fresh = await recorded(document(one.documentId))
        expect(await records.retire(deletion, signal)).toBeUndefined()
        await records.finish(deletion, signal)
        expect(await find(fresh)).toEqual(fresh)
      })
    })

    describe('rows', () => {
      const countedFrom = 7
      const asCounted = (one: WorkspaceDocument, from = countedFrom) => ({
        attemptId: one.attemptId,
        sizeBytes: one.sizeBytes,
        createdAtMs: one.createdAt.getTime(),
        countedFrom: from,
      })
      const asFormer = (one: WorkspaceDocument, countedThrough: number) => ({
        state: 'former',
        ...asCounted(one),
        countedThrough,
        finishedAtMs: expect.any(Number),
      })
      const retire = async (one: WorkspaceDocument) => {
        const deletion = deletionOf(one)
        const retired = await records.retire(deletion, signal)
        if (!retired) throw new Error('not retired')
        const finish = (countedThrough: number) => records.finish(deletion, signal, { retired, countedThrough })
        return { deletion, retired, finish }
      }

      it('tell of a document since when it is counted, and of its deletion until when, as long as its tombstone is there', async () => {
        const one = await recorded({ ...document(), countedFrom })
        expect(await find(one)).toEqual(one)
        const { documentId } = one
        expect(await rowOf(one)).toEqual({
          documentId,
          document: one,
          counted: [{ state: 'document', ...asCounted(one) }],
        })
        const { deletion, retired, finish } = await retire(one)
        expect(retired).toEqual({ objectKey: one.objectKey, counted: asCounted(one), former: [] })
        const { releaseId: retiredBy } = deletion
        expect(await rowOf(one)).toEqual({ documentId, counted: [{ state: 'retired', retiredBy, ...asCounted(one) }] })
        for (let times = 0; times < 2; times++) {
          await finish(9)
          expect(await rowOf(one)).toEqual({ documentId, counted: [asFormer(one, 9)] })
        }
      })

      it('go on telling of it when another document was made there, and another deleted', async () => {
        const one = await recorded({ ...document(), countedFrom })
        await (await retire(one)).finish(9)
        const second = await recorded({ ...document(one.documentId), countedFrom: 12 })
        expect((await rowOf(one))?.counted).toEqual([{ state: 'document', ...asCounted(second, 12) }, asFormer(one, 9)])
        const { retired, deletion, finish } = await retire(second)
        expect(retired.former).toMatchObject([{ attemptId: one.attemptId }])
        const { releaseId: retiredBy } = deletion
        expect((await rowOf(one))?.counted).toEqual([
          { state: 'retired', retiredBy, ...asCounted(second, 12) },
          asFormer(one, 9),
        ])
        await finish(15)
        // Once more, by somebody who knows no more of it than that it was retired.
        await records.finish(deletion, signal)
        expect((await rowOf(one))?.counted).toEqual([asFormer(one, 9), { ...asFormer(second, 15), countedFrom: 12 }])
      })

      it('say of a deletion that nobody told until when it counted', async () => {
        const one = await recorded({ ...document(), countedFrom })
        await remove(one)
        expect((await rowOf(one))?.counted).toEqual([{ state: 'untold', finishedAtMs: expect.any(Number) }])
      })

      it('hold nothing where an attempt was fenced', async () => {
        const one = document()
        await fence(one)
        expect(await rowOf(one)).toEqual({ documentId: one.documentId, counted: [] })
      })

      it('are listed by ascending id, from behind one of them on', async () => {
        const documents = Array.from({ length: 5 }, () => document())
        for (const each of documents.toReversed()) await recorded(each)
        const [first, second, third] = documents as [WorkspaceDocument, WorkspaceDocument, WorkspaceDocument]
        await retire(third)
        const idsBehind = async (after?: DocumentId) => {
          const ids = []
          for await (const { documentId } of records.listRows(workspaceId, signal, { after })) ids.push(documentId)
          return ids
        }
        const ids = documents.map(({ documentId }) => documentId)
        expect(await idsBehind()).toEqual(ids)
        expect(await idsBehind(first.documentId)).toEqual(ids.slice(1))
        await remove(second)
        expect(await idsBehind(second.documentId)).toEqual(ids.slice(2))
      })
    })

    it('finishes nothing for a deletion that retired nothing', async () => {
      const one = await recorded()
      await records.finish(deletionOf(one), signal)
      expect(await find(one)).toEqual(one)
      await records.retire(deletionOf(one), signal)
      await records.finish(deletionOf(one), signal)
      expect(await record(document(one.documentId))).toBe('fenced')
      await records.finish(deletionOf(document()), signal)
    })

    it('lists the documents of one workspace by ascending id, without tombstones', async () => {
      const documents = Array.from({ length: 5 }, () => document())
      for (const each of documents.toReversed()) await recorded(each)
      await recorded(newDocument(newReservation({ workspaceId: newWorkspaceId() })))
      await fence(document())
      const [, , third, fourth] = documents
      await remove(third as WorkspaceDocument)
      await records.retire(deletionOf(fourth as WorkspaceDocument), signal)
      const listed = []
      for await (const each of records.list(workspaceId, signal)) listed.push(each)
      expect(listed).toEqual(documents.toSpliced(2, 2))
    })

    it('lists all rows by ascending id, tombstones too, from behind any of them', async () => {
      const documents = Array.from({ length: 4 }, () => document())
      for (const each of documents) await recorded(each)
      const [first, second] = documents
      await remove(second as WorkspaceDocument)
      const rows = async (after?: DocumentId) => {
        const ids: [string, boolean][] = []
        for await (const row of records.listRows(workspaceId, signal, { after })) {
          expect(row.document?.documentId ?? row.documentId).toBe(row.documentId)
          ids.push([row.documentId, row.document !== undefined])
        }
        return ids
      }
      const all = documents.map((each) => [each.documentId, each !== second])
      expect(await rows()).toEqual(all)
      expect(await rows(first?.documentId)).toEqual(all.slice(1))
      expect(await rows(second?.documentId)).toEqual(all.slice(2))
      expect(await rows(documents[3]?.documentId)).toEqual([])
    })
  })
}
