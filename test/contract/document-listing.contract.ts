import { beforeEach, describe, expect, it } from 'vitest'
import type { DocumentListing, ListedDocument, ListOrder, ListPosition } from '../../lib/documents/document-listing.ts'
import { comparePositions } from '../../lib/documents/list-documents.ts'
import { type DocumentId, documentIdOfAttempt, type FilePath, newAttemptId, type WorkspaceId } from '../../lib/ids.ts'
import type { DocumentRecords, WorkspaceDocument } from '../../lib/ledger/ports/document-records.ts'
import { LEDGER_NOW_MS, newAttempt, newDocument, newRelease, newWorkspaceId } from '../support/stores/ledger-values.ts'
import { DAY_MS } from '../support/stores/use-documents.ts'

const newDocumentId = () => documentIdOfAttempt(newAttemptId())
// Never reached, however busy the machine.
const signal = AbortSignal.timeout(900_000)

interface ListingHarness {
  listing: DocumentListing
  records: DocumentRecords
}

export function describeDocumentListing(name: string, make: (now: () => number) => ListingHarness): void {
  describe(`document listing: ${name}`, () => {
    let harness: ListingHarness
    let workspaceId: WorkspaceId
    let nowMs = LEDGER_NOW_MS
    beforeEach(() => {
      harness = make(() => nowMs)
      workspaceId = newWorkspaceId()
    })

    const record = async (createdAtMs: number, change: Partial<WorkspaceDocument> = {}): Promise<WorkspaceDocument> => {
      const attempt = newAttempt({ workspaceId, sizeBytes: 5 * 1024 ** 3 })
      const document = { ...newDocument(attempt), createdAt: new Date(createdAtMs), ...change }
      expect(await harness.records.record(document, signal)).toBe('recorded')
      return document
    }
    const deleteDocument = async (document: WorkspaceDocument) => {
      const deletion = { ...newRelease(document, 'deletion'), markedIn: 1 }
      expect(await harness.records.delete(document, signal)).toBeDefined()
      expect(await harness.records.handOver(deletion, signal)).toBe(deletion.releaseId)
      await harness.records.expireTombstone(deletion, signal)
    }
    const page = (order: ListOrder, limit: number, after?: ListPosition) =>
      harness.listing.page({ workspaceId, order, after, limit }, signal)
    const all = async (order: ListOrder, limit: number): Promise<ListedDocument[]> => {
      const listed: ListedDocument[] = []
      for (let after: ListPosition | undefined; ; ) {
        const { items, hasMore } = await page(order, limit, after)
        listed.push(...items)
        const last = listed.at(-1)
        if (!hasMore || !last || listed.length > 100) return listed
        expect(items).toHaveLength(limit)
        // A cursor tells no expiry.
        after = { createdAt: last.createdAt, documentId: last.documentId }
      }
    }
    const idsOf = (documents: readonly ListPosition[]) => documents.map(({ documentId }) => documentId)

    it('shows what a list shows, field by field', async () => {
      const { documentId, filename, mimeType, sizeBytes, createdAt, containerId } = await record(1_795_253_915_556)
      expect(await page('asc', 10)).toEqual({
        items: [{ documentId, filename, mimeType, sizeBytes, createdAt, containerId }],
        hasMore: false,
      })
    })

    it.each<[ListOrder, number]>([
      ['asc', 1],
      ['asc', 4],
      ['desc', 3],
      ['desc', 100],
    ])(
      'goes through all in order, %s, %i a page, also through those of one moment, some of which will expire',
      async (order, limit) => {
        const moments = [5, 3, 3, 9, 3, 1, 9, 3].map((second) => 1_795_000_000_000 + second * 1000)
        const documents = []
        for (const [index, moment] of moments.entries()) {
          documents.push(await record(moment, index % 2 === 0 ? {} : { expiresAt: new Date(LEDGER_NOW_MS + index) }))
        }
        const expected = documents.toSorted((a, b) => (order === 'asc' ? 1 : -1) * comparePositions(a, b))
        expect(idsOf(await all(order, limit))).toEqual(idsOf(expected))
      },
    )

    it('tells exactly whether there is more', async () => {
      for (let i = 0; i < 3; i++) await record(i)
      expect((await page('asc', 2)).hasMore).toBe(true)
      expect((await page('asc', 3)).hasMore).toBe(false)
    })

    it('goes on behind a place whose document is gone, and knows that place by the id', async () => {
      const documents = []
      for (let i = 0; i < 4; i++) documents.push(await record(i))
      const gone = documents[1] as WorkspaceDocument
      await deleteDocument(gone)
      const place = await harness.listing.positionOf(workspaceId, gone.documentId, signal)
      expect(place).toEqual({ documentId: gone.documentId, createdAt: gone.createdAt })
      expect(idsOf((await page('asc', 10, place)).items)).toEqual(idsOf(documents.slice(2)))
      expect(idsOf((await page('desc', 10, place)).items)).toEqual(idsOf(documents.slice(0, 1)))
      expect(idsOf(await all('asc', 10))).toEqual(idsOf(documents.toSpliced(1, 1)))
    })

    it('knows the place of a document, and none of an id that was never one or is of another workspace', async () => {
      const { documentId, createdAt } = await record(7)
      expect(await harness.listing.positionOf(workspaceId, documentId, signal)).toEqual({ documentId, createdAt })
      expect(await harness.listing.positionOf(workspaceId, newDocumentId(), signal)).toBeUndefined()
      expect(await harness.listing.positionOf('ws_other' as WorkspaceId, documentId, signal)).toBeUndefined()
    })

    it('takes no fenced attempt for a document', async () => {
      const { documentId, ...attempt } = newAttempt({ workspaceId })
      await harness.records.fence({ ...attempt, documentId }, signal)
      expect(await harness.listing.positionOf(workspaceId, documentId, signal)).toBeUndefined()
      expect(await page('asc', 10)).toEqual({ items: [], hasMore: false })
      expect(await harness.listing.findAll(workspaceId, [documentId], signal)).toEqual([])
    })

    it('shows a document made anew under the id of a deleted one at its new place', async () => {
      const [first, second] = [await record(1), await record(2)]
      await deleteDocument(first)
      nowMs += DAY_MS
      await record(3, { documentId: first.documentId })
      expect(idsOf(await all('asc', 1))).toEqual([second.documentId, first.documentId])
    })

    it('finds documents by their ids, and leaves the others out', async () => {
      const documents = []
      for (let i = 0; i < 3; i++) documents.push(await record(i))
      await deleteDocument(documents[2] as WorkspaceDocument)
      const unknown = Array.from({ length: 97 }, () => newDocumentId())
      const foreign = await record(1, { workspaceId: 'ws_other' as WorkspaceId })
      const wanted = [...idsOf(documents), foreign.documentId, ...unknown].slice(0, 100) as DocumentId[]
      const found = await harness.listing.findAll(workspaceId, wanted, signal)
      expect(new Set(idsOf(found))).toEqual(new Set(idsOf(documents.slice(0, 2))))
      const [{ filename, mimeType, sizeBytes }] = documents as [WorkspaceDocument]
      expect(found[0]).toMatchObject({ filename, mimeType, sizeBytes })
    })

    it('fills pages that are longer than what the store reads at once', { timeout: 900_000 }, async () => {
      const filename = 'x'.repeat(990) as FilePath
      // An index entry is about 1.3 KB, and a query reads at most 1 MB.
      for (let batch = 0; batch < 11; batch++) {
        await Promise.all(Array.from({ length: 100 }, (_, i) => record(batch * 100 + i, { filename })))
      }
      const { items, hasMore } = await page('asc', 1000)
      expect([items.length, hasMore]).toEqual([1000, true])
      const rest = await page('asc', 1000, items.at(-1))
      expect([rest.items.length, rest.hasMore]).toEqual([100, false])
      expect(new Set(idsOf([...items, ...rest.items])).size).toBe(1100)
    })
  })
}
