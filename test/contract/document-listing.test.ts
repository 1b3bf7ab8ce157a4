import { expect, it } from 'vitest'
import type { ListedDocument, ListOrder, ListPosition } from '../../lib/documents/document-listing.ts'
import { comparePositions } from '../../lib/documents/list-documents.ts'
import type { ContainerId, WorkspaceId } from '../../lib/ids.ts'
import type { WorkspaceDocument } from '../../lib/ledger/ports/documents.ts'
import { LEDGER_NOW_MS, strayOf } from '../support/stores/ledger-values.ts'
import { useTableStores } from '../support/stores/table-stores.ts'

// Never reached, however busy the machine.
const signal = AbortSignal.timeout(900_000)

const on = useTableStores()
const record = (createdAtMs: number, change: Partial<WorkspaceDocument> = {}) =>
  on.recorded({ createdAt: new Date(createdAtMs), ...change })
const page = (order: ListOrder, limit: number, after?: ListPosition, containerId?: ContainerId) =>
  on.listing.page({ workspaceId: on.workspaceId, order, containerId, after, limit }, signal)
const all = async (order: ListOrder, limit: number, containerId?: ContainerId): Promise<ListedDocument[]> => {
  const listed: ListedDocument[] = []
  for (let after: ListPosition | undefined; ; ) {
    const { items, hasMore } = await page(order, limit, after, containerId)
    listed.push(...items)
    const last = listed.at(-1)
    if (!hasMore || !last || listed.length > 100) return listed
    expect(items).toHaveLength(limit)
    // A cursor tells no expiry.
    after = { createdAt: last.createdAt, documentId: last.documentId }
  }
}
const idsOf = (documents: readonly ListPosition[]) => documents.map(({ documentId }) => documentId)

it.each([{}, { expiresAt: new Date(LEDGER_NOW_MS + 5000) }])(
  'shows what a list shows, field by field: %j',
  async (expiry) => {
    const one = await record(1_795_253_915_556, expiry)
    const { documentId, filename, mimeType, sizeBytes, createdAt, containerId } = one
    const listed = { documentId, filename, mimeType, sizeBytes, createdAt, containerId, ...expiry }
    expect(await page('asc', 10)).toEqual({ items: [listed], hasMore: false })
    expect(await on.listing.findAll(on.workspaceId, [documentId], signal)).toEqual([listed])
  },
)

it.each<[ListOrder, number]>([
  ['asc', 1],
  ['desc', 3],
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

it.each<[ListOrder, number]>([
  ['asc', 2],
  ['desc', 3],
])('of one container: goes through all of it in order, %s, %i a page, and no page is empty', async (order, limit) => {
  const containerId = 'sess_one' as ContainerId
  const own: WorkspaceDocument[] = []
  // Few among many, and one at the end that has expired.
  for (let second = 0; second < 40; second++) {
    const isOwn = [3, 4, 20, 21, 22, 38].includes(second)
    const hasExpired = second === 38 ? { expiresAt: new Date(LEDGER_NOW_MS - 1000) } : {}
    const one = await record(1_795_000_000_000 + second * 1000, isOwn ? { containerId, ...hasExpired } : {})
    if (isOwn && second !== 38) own.push(one)
  }
  await on.recorded({ workspaceId: 'ws_other' as WorkspaceId, containerId })
  const expected = order === 'asc' ? own : own.toReversed()
  expect(idsOf(await all(order, limit, containerId))).toEqual(idsOf(expected))
  expect(await page(order, limit, undefined, 'sess_none' as ContainerId)).toEqual({ items: [], hasMore: false })
})
