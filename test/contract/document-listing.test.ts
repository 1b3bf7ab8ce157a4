import { expect, it } from 'vitest'
import type { ListedDocument, ListOrder, ListPosition } from '../../lib/documents/document-listing.ts'
import { comparePositions } from '../../lib/documents/list-documents.ts'
import type { WorkspaceDocument } from '../../lib/ledger/ports/documents.ts'
import { LEDGER_NOW_MS, signal, strayOf } from '../support/stores/ledger-values.ts'
import { useTableStores } from '../support/stores/table-stores.ts'

const on = useTableStores()
const record = (createdAtMs: number, change: Partial<WorkspaceDocument> = {}) =>
  on.recorded({ createdAt: new Date(createdAtMs), ...change })
const page = (order: ListOrder, limit: number, after?: ListPosition) =>
  on.listing.page({ workspaceId: on.workspaceId, order, containerId: undefined, after, limit }, signal)
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

const EXPIRIES = [{}, { expiresAt: new Date(LEDGER_NOW_MS + 5000) }]
it.each(EXPIRIES)('shows what a list shows, field by field: %j', async (expiry) => {
  const one = await record(1_795_253_915_556, expiry)
  const { documentId, filename, mimeType, sizeBytes, createdAt, containerId } = one
  const listed = { documentId, filename, mimeType, sizeBytes, createdAt, containerId, ...expiry }
  expect(await page('asc', 10)).toEqual({ items: [listed], hasMore: false })
  expect(await on.listing.findAll(on.workspaceId, [documentId], signal)).toEqual([listed])
})

it.each<[ListOrder, number]>([
  ['asc', 1],
  ['desc', 3],
])('goes through all, %s, %i a page, also those of one moment, some of which will expire', async (order, limit) => {
  const moments = [5, 3, 3, 9, 3, 1, 9, 3].map((second) => 1_795_000_000_000 + second * 1000)
  const documents = []
  for (const [index, moment] of moments.entries()) {
    documents.push(await record(moment, index % 2 === 0 ? {} : { expiresAt: new Date(LEDGER_NOW_MS + index) }))
  }
  const expected = documents.toSorted((a, b) => (order === 'asc' ? 1 : -1) * comparePositions(a, b))
  expect(idsOf(await all(order, limit))).toEqual(idsOf(expected))
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
