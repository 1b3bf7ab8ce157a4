import { describe, expect, it } from 'vitest'
import type { DocumentId } from '../../lib/ids.ts'
import type { DocumentMaintenance } from '../../lib/maintenance/document-maintenance.ts'
import type { DocumentRecords, WorkspaceDocument } from '../../lib/promotion/document-records.ts'
import { newDocument, newReservation, newWorkspaceId } from '../support/stores/ledger-values.ts'
import { useDocuments } from '../support/stores/use-documents.ts'

const { signal } = new AbortController()

export function describeDocumentMaintenance(name: string, make: () => DocumentRecords & DocumentMaintenance): void {
  describe(`document maintenance: ${name}`, () => {
    const store = useDocuments(make)
    const { document, find, recorded, rowOf, fence, deletionOf, remove } = store

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
        const retired = await store.records.retire(deletion, signal)
        if (!retired) throw new Error('not retired')
        const finish = (countedThrough: number) => store.records.finish(deletion, signal, { retired, countedThrough })
        return { deletion, retired, finish }
      }

      it('tell since when a document is counted and, for as long as it has a tombstone, until when a deleted one was', async () => {
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
        await store.records.finish(deletion, signal)
        expect((await rowOf(one))?.counted).toEqual([asFormer(one, 9), { ...asFormer(second, 15), countedFrom: 12 }])
      })

      it('say so when nobody recorded until when a deleted document was counted', async () => {
        const one = await recorded({ ...document(), countedFrom })
        await remove(one)
        expect((await rowOf(one))?.counted).toEqual([{ state: 'unrecorded', finishedAtMs: expect.any(Number) }])
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
          for await (const { documentId } of store.records.listRows(store.workspaceId, signal, { after }))
            ids.push(documentId)
          return ids
        }
        const ids = documents.map(({ documentId }) => documentId)
        expect(await idsBehind()).toEqual(ids)
        expect(await idsBehind(first.documentId)).toEqual(ids.slice(1))
        await remove(second)
        expect(await idsBehind(second.documentId)).toEqual(ids.slice(2))
      })
    })

    it('lists the documents of one workspace by ascending id, without tombstones', async () => {
      const documents = Array.from({ length: 5 }, () => document())
      for (const each of documents.toReversed()) await recorded(each)
      await recorded(newDocument(newReservation({ workspaceId: newWorkspaceId() })))
      await fence(document())
      const [, , third, fourth] = documents
      await remove(third as WorkspaceDocument)
      await store.records.retire(deletionOf(fourth as WorkspaceDocument), signal)
      const listed = []
      for await (const each of store.records.list(store.workspaceId, signal)) listed.push(each)
      expect(listed).toEqual(documents.toSpliced(2, 2))
    })

    it('lists all rows by ascending id, tombstones too, from behind any of them', async () => {
      const documents = Array.from({ length: 4 }, () => document())
      for (const each of documents) await recorded(each)
      const [first, second] = documents
      await remove(second as WorkspaceDocument)
      const rows = async (after?: DocumentId) => {
        const ids: [string, boolean][] = []
        for await (const row of store.records.listRows(store.workspaceId, signal, { after })) {
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
