import { describe, expect, it } from 'vitest'
import type { ListedDocument, ListOrder, ListPosition } from '../../lib/documents/document-listing.ts'
import { comparePositions } from '../../lib/documents/list-documents.ts'
import { type DocumentId, documentIdOfAttempt, type FilePath, newAttemptId } from '../../lib/ids.ts'
import type { WorkspaceDocument } from '../../lib/ledger/ports/documents.ts'
import { LEDGER_NOW_MS, newWorkspaceId, strayOf } from '../support/stores/ledger-values.ts'
import { DAY_MS, type MakeTableStores, useTableStores } from '../support/stores/table-stores.ts'

const newDocumentId = () => documentIdOfAttempt(newAttemptId())
// Never reached, however busy the machine.
const signal = AbortSignal.timeout(900_000)

/** So many seconds after the start of the clock. */
const at = (seconds: number) => new Date(LEDGER_NOW_MS + seconds * 1000)

export function describeDocumentListing(name: string, make: MakeTableStores): void {
  describe(`document listing: ${name}`, () => {
    const on = useTableStores(make)
    const record = (createdAtMs: number, change: Partial<WorkspaceDocument> = {}) =>
      on.recorded({ createdAt: new Date(createdAtMs), ...change })
    const page = (order: ListOrder, limit: number, after?: ListPosition) =>
      on.listing.page({ workspaceId: on.workspaceId, order, after, limit }, signal)
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

    it.each([{}, { expiresAt: at(5) }])('shows what a list shows, field by field: %j', async (expiry) => {
      const one = await record(1_795_253_915_556, expiry)
      const { documentId, filename, mimeType, sizeBytes, createdAt, containerId } = one
      const listed = { documentId, filename, mimeType, sizeBytes, createdAt, containerId, ...expiry }
      expect(await page('asc', 10)).toEqual({ items: [listed], hasMore: false })
      expect(await on.listing.findAll(on.workspaceId, [documentId], signal)).toEqual([listed])
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

    it('leaves a document out from the very moment on that it expires; its place is still known', async () => {
      const { documentId, createdAt } = await record(1000, { expiresAt: at(5) })
      for (const [seconds, shown] of [[4.999, [documentId]] as const, [5, []] as const]) {
        on.clock.nowMs = at(seconds).getTime()
        expect(idsOf((await page('desc', 1)).items)).toEqual(shown)
        expect(idsOf(await on.listing.findAll(on.workspaceId, [documentId], signal))).toEqual(shown)
      }
      expect(await on.listing.positionOf(on.workspaceId, documentId, signal)).toEqual({ documentId, createdAt })
    })

    it('fills its pages where many have expired, and tells whether there is more', async () => {
      const documents = []
      for (let i = 0; i < 24; i++) documents.push(await record(i * 1000, { expiresAt: at(i % 8 === 3 ? 50 : 5) }))
      const inOrder = idsOf(documents.filter((_, index) => index % 8 === 3))
      on.clock.nowMs = at(5).getTime()
      for (const [order, ids] of [['asc', inOrder] as const, ['desc', inOrder.toReversed()] as const]) {
        // Behind the last there are only expired ones.
        for (const [limit, hasMore] of [[1, true] as const, [2, true] as const, [3, false] as const]) {
          const { items, ...rest } = await page(order, limit)
          expect([idsOf(items), rest]).toEqual([ids.slice(0, limit), { hasMore }])
        }
      }
      on.clock.nowMs = at(50).getTime()
      expect(await page('asc', 1)).toEqual({ items: [], hasMore: false })
    })

    it('tells exactly whether there is more', async () => {
      for (let i = 0; i < 3; i++) await record(i)
      expect((await page('asc', 2)).hasMore).toBe(true)
      expect((await page('asc', 3)).hasMore).toBe(false)
    })

    it('goes on behind a place whose document is gone, and knows that place by the id', async () => {
      const documents = []
      for (let i = 0; i < 4; i++) documents.push(await record(i))
      const gone = documents[1] as WorkspaceDocument
      await on.buried(gone)
      const place = await on.listing.positionOf(on.workspaceId, gone.documentId, signal)
      expect(place).toEqual({ documentId: gone.documentId, createdAt: gone.createdAt })
      expect(idsOf((await page('asc', 10, place)).items)).toEqual(idsOf(documents.slice(2)))
      expect(idsOf((await page('desc', 10, place)).items)).toEqual(idsOf(documents.slice(0, 1)))
      expect(idsOf(await all('asc', 10))).toEqual(idsOf(documents.toSpliced(1, 1)))
    })

    it('knows the place of a document, and none of an id that was never one or is of another workspace', async () => {
      const { documentId, createdAt } = await record(7)
      expect(await on.listing.positionOf(on.workspaceId, documentId, signal)).toEqual({ documentId, createdAt })
      expect(await on.listing.positionOf(on.workspaceId, newDocumentId(), signal)).toBeUndefined()
      expect(await on.listing.positionOf(newWorkspaceId(), documentId, signal)).toBeUndefined()
    })

    it.each(['pending', 'stray'])('takes nothing that is %s for a document', async (state) => {
      const one = await on.begun()
      if (state === 'stray') {
        await on.documents.putStray(strayOf(one), signal)
        await on.documents.fence(one, signal)
      }
      const { documentId } = one
      expect(await on.listing.positionOf(on.workspaceId, documentId, signal)).toBeUndefined()
      expect(await page('asc', 10)).toEqual({ items: [], hasMore: false })
      expect(await on.listing.findAll(on.workspaceId, [documentId], signal)).toEqual([])
    })

    it('shows a document made anew under the id of a deleted one at its new place', async () => {
      const [first, second] = [await record(1), await record(2)]
      await on.buried(first)
      on.clock.nowMs += DAY_MS
      await record(3, { documentId: first.documentId })
      expect(idsOf(await all('asc', 1))).toEqual([second.documentId, first.documentId])
    })

    it('finds documents by their ids, and leaves the others out', async () => {
      const documents = []
      for (let i = 0; i < 3; i++) documents.push(await record(i))
      await on.buried(documents[2] as WorkspaceDocument)
      const unknown = Array.from({ length: 97 }, () => newDocumentId())
      const foreign = await record(1, { workspaceId: newWorkspaceId() })
      const wanted = [...idsOf(documents), foreign.documentId, ...unknown].slice(0, 100) as DocumentId[]
      const found = await on.listing.findAll(on.workspaceId, wanted, signal)
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
