import { describe, expect, it } from 'vitest'
import type { DocumentId } from '../../lib/ids.ts'
import type { WorkspaceDocument } from '../../lib/ledger/ports/document-records.ts'
import { newAttempt, newDocument, newWorkspaceId } from '../support/stores/ledger-values.ts'
import { type MakeDocuments, useDocuments } from '../support/stores/use-documents.ts'

const { signal } = new AbortController()

export function describeDocumentMaintenance(name: string, make: MakeDocuments): void {
  describe(`document maintenance: ${name}`, () => {
    const store = useDocuments(make)
    const { document, find, recorded, rowOf, fence, deleteDocument, remove } = store

    describe('rows', () => {
      it('tell since when a document is counted', async () => {
        const one = await recorded({ ...document(), countedFrom: 7 })
        const { documentId, attemptId, sizeBytes } = one
        expect(await find(one)).toEqual(one)
        expect(await rowOf(one)).toEqual({
          documentId,
          document: one,
          counted: { attemptId, sizeBytes, countedFrom: 7 },
        })
      })

      it('hold nothing where an attempt was fenced', async () => {
        const one = document()
        await fence(one)
        expect(await rowOf(one)).toEqual({ documentId: one.documentId })
      })
    })

    it('lists the documents of one workspace by ascending id, without tombstones', async () => {
      const documents = Array.from({ length: 5 }, () => document())
      for (const each of documents.toReversed()) await recorded(each)
      await recorded(newDocument(newAttempt({ workspaceId: newWorkspaceId() })))
      await fence(document())
      const [, , third, fourth] = documents
      await remove(third as WorkspaceDocument)
      await deleteDocument(fourth as WorkspaceDocument)
      const listed = await Array.fromAsync(store.records.list(store.workspaceId, signal))
      expect(listed).toEqual(documents.toSpliced(2, 2))
    })

    it('lists all rows by ascending id, tombstones too, from behind any of them', async () => {
      const documents = Array.from({ length: 4 }, () => document())
      for (const each of documents) await recorded(each)
      const [first, second] = documents
      await remove(second as WorkspaceDocument)
      const rows = async (after?: DocumentId) => {
        const all = await Array.fromAsync(store.records.listItems(store.workspaceId, signal, { after }))
        return all.map(({ documentId, document }) => [documentId, document?.documentId])
      }
      const all = documents.map((each) => [each.documentId, each === second ? undefined : each.documentId])
      expect(await rows()).toEqual(all)
      expect(await rows(first?.documentId)).toEqual(all.slice(1))
      expect(await rows(second?.documentId)).toEqual(all.slice(2))
      expect(await rows(documents[3]?.documentId)).toEqual([])
    })
  })
}
