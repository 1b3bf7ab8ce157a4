import { beforeEach, describe, expect, it } from 'vitest'
import { dueShard, dueShardOf } from '../../lib/aws/dynamodb/document-codec.ts'
import type { DocumentId } from '../../lib/ids.ts'
import type { DueKind, WorkspaceDocument } from '../../lib/ledger/ports/documents.ts'
import { pendingOf, signal, strayOf } from '../support/stores/ledger-values.ts'
import { useTableStores } from '../support/stores/table-stores.ts'

const START_MS = 1_000_000
/** So many seconds after the start. */
const at = (seconds: number) => new Date(START_MS + seconds * 1000)

const on = useTableStores()
const { buried, document, find, recorded } = on
beforeEach(() => {
  on.clock.nowMs = START_MS
})

const expiring = (seconds?: number, change: Partial<WorkspaceDocument> = {}) =>
  recorded({ ...change, ...(seconds !== undefined && { expiresAt: at(seconds) }) })
const begun = async (seconds: number) => {
  const one = document()
  await on.documents.begin({ ...pendingOf(one), dueAtMs: at(seconds).getTime() }, undefined, signal)
  return one
}
const setExpiry = (of: WorkspaceDocument, seconds?: number) =>
  on.documents.setExpiry(of, seconds === undefined ? undefined : at(seconds), signal)
/** Entries of the workspace, each in the shard of its document. */
const dueOf = async (kind: DueKind, seconds: number) => {
  const found: [string, number][] = []
  for (const shard of on.dueWork.dueShards) {
    const pages = on.dueWork.listDue({ kind, shard, byMs: at(seconds).getTime() }, signal)
    for (const { workspaceId, itemId, dueAtMs } of (await Array.fromAsync(pages)).flat()) {
      if (workspaceId !== on.workspaceId) continue
      expect(dueShardOf(kind, itemId.split('/')[0] as DocumentId)).toBe(dueShard(kind, shard))
      found.push([itemId, (dueAtMs - START_MS) / 1000])
    }
  }
  return found
}
const expiredBy = (seconds: number) => dueOf('expiry', seconds)

it('an expiry is due from its end until the document is gone; what was begun, in the shard of its document', async () => {
  const one = await expiring(5)
  expect([await expiredBy(4.999), await expiredBy(5)]).toEqual([[], [[one.documentId, 5]]])
  await on.documents.delete(one, { ifExpiredByMs: at(5).getTime(), dueAtMs: 0 }, signal)
  expect(await expiredBy(5)).toEqual([[one.documentId, 5]])
  await buried(one)
  const other = await expiring(5)
  await on.documents.delete(other, { dueAtMs: at(9).getTime() }, signal)
  expect(await expiredBy(99)).toEqual([])
  expect(await dueOf('work', 8.999)).toEqual([])
  expect(await dueOf('work', 9)).toEqual([[other.documentId, 9]])
  await buried(other)
  const pending = await begun(5)
  expect(await dueOf('work', 5)).toEqual([[pending.documentId, 5]])
  const dueAtMs = at(6).getTime()
  await on.documents.putStray(strayOf(pending, dueAtMs), signal)
  await on.documents.record(pending, signal)
  const stray = `${pending.documentId}/${pending.attemptId}`
  expect(await dueOf('work', 99)).toEqual([[stray, 6]])
  const entry = { workspaceId: on.workspaceId, itemId: stray, dueAtMs }
  expect(await on.dueWork.findDue(entry, signal)).toMatchObject({ state: 'stray', attemptId: pending.attemptId })
  expect(await on.dueWork.findDue({ ...entry, itemId: pending.documentId }, signal)).toEqual(pending)
  expect(await on.dueWork.findDue({ ...entry, itemId: 'none' }, signal)).toBeUndefined()
})

describe('setExpiry', () => {
  it.each([
    ['longer', 500, 900],
    ['shorter', 900, 500],
    ['to never', 500, undefined],
    ['from never', undefined, 500],
  ])('%s: in both indexes, and the document keeps its place in the list', async (_, before, seconds) => {
    const created = (second: number) => ({ createdAt: at(second) })
    const [first, one, last] = [
      await expiring(9000, created(1)),
      await expiring(before, created(1.001)),
      await expiring(undefined, created(2)),
    ]
    expect(await setExpiry(one, seconds)).toBe(true)
    const { expiresAt: __, ...kept } = one
    expect(await find(one)).toEqual({ ...kept, ...(seconds !== undefined && { expiresAt: at(seconds) }) })
    const request = { workspaceId: on.workspaceId, order: 'asc', after: undefined, limit: 3 } as const
    const { items } = await on.listing.page(request, signal)
    expect(items.map(({ documentId }) => documentId)).toEqual([first, one, last].map((each) => each.documentId))
    expect(items[1]?.expiresAt).toEqual(seconds === undefined ? undefined : at(seconds))
    expect(await expiredBy(6000)).toEqual(seconds === undefined ? [] : [[one.documentId, seconds]])
  })

  it('changes nothing of another attempt, of what is deleted, pending, or never was', async () => {
    const [one, deleted, pending] = [await expiring(500), await expiring(500), await begun(500)]
    await on.documents.delete(deleted, { dueAtMs: at(500).getTime() }, signal)
    const others = [{ ...one, attemptId: document().attemptId }, deleted, pending, document()]
    const before = await Promise.all([one, deleted, pending].map(find))
    for (const each of others) {
      for (const to of [900, undefined]) expect(await setExpiry({ ...each, expiresAt: at(500) }, to)).toBe(false)
    }
    expect(await Promise.all([one, deleted, pending].map(find))).toEqual(before)
  })
})
