/** The explorer does not see each attribute, each moment, nor many at once. */
import { expect, it } from 'vitest'
import type { DeletedDocument, WorkspaceDocument } from '../../lib/ledger/ports/documents.ts'
import { LEASE_END_MS, newRefund, newWorkspaceId, pendingOf, signal, strayOf } from '../support/stores/ledger-values.ts'
import { DAY_MS, useTableStores } from '../support/stores/table-stores.ts'

const DUE_MS = 1_850_000_000_000

/** The part of a document that its tombstone keeps. */
const remainsOf = (
  { workspaceId, documentId, attemptId, objectKey, sizeBytes, countedFrom, createdAt }: WorkspaceDocument,
  change: Partial<DeletedDocument>,
) => ({ workspaceId, documentId, attemptId, objectKey, sizeBytes, countedFrom, createdAt, ...change })

const on = useTableStores()
const { begun, buried, document, find, recorded } = on
const begin = (one: WorkspaceDocument, over?: DeletedDocument) => on.documents.begin(pendingOf(one), over, signal)
const deleteIt = (one: WorkspaceDocument, when: { ifExpiredByMs?: number; unlessExpiredByMs?: number } = {}) =>
  on.documents.delete(one, { ...when, dueAtMs: DUE_MS }, signal)
const nameRefund = (one: WorkspaceDocument, { refundId } = newRefund(one)) =>
  on.documents.nameRefund(one, { refundId, refundVersion: 9 }, signal)

it('documents are told in each state, attribute by attribute, one by one and among a hundred', async () => {
  const expiresAt = new Date(LEASE_END_MS)
  const [pending, ready, deleting, handed, gone] = [
    await begun(),
    await recorded({ expiresAt, countedFrom: 7 }),
    await recorded(),
    await recorded(),
    await recorded(),
  ]
  await deleteIt(deleting)
  await deleteIt(handed)
  const refundId = await nameRefund(handed)
  const buriedBy = await buried(gone)
  const expected = [
    pendingOf(pending),
    ready,
    remainsOf(deleting, { state: 'deleting', dueAtMs: DUE_MS }),
    remainsOf(handed, { state: 'deleting', dueAtMs: DUE_MS, refundId, refundVersion: 9 } as never),
    remainsOf(gone, { state: 'gone', refundId: buriedBy, refundVersion: 9 }),
  ]
  const all = [pending, ready, deleting, handed, gone]
  for (const [index, one] of all.entries()) expect(await find(one)).toEqual(expected[index])
  const ids = [...all, ...Array.from({ length: 95 }, () => document())].map(({ documentId }) => documentId)
  const found = await on.documents.findAll(on.workspaceId, ids, signal)
  expect(found).toHaveLength(5)
  expect(found).toEqual(expect.arrayContaining(expected))
  expect(await on.documents.findAll(newWorkspaceId(), ids, signal)).toEqual([])
  expect(await find({ ...ready, workspaceId: newWorkspaceId() })).toBeUndefined()
})

it('documents have no more attributes than they were given', async () => {
  const { contentEncoding: _, sha256: __, ...bare } = document()
  expect(await find(await begun(bare))).toEqual(pendingOf(bare))
  expect(await on.documents.record(bare, signal)).toBe(true)
  expect(await find(bare)).toEqual(bare)
})

it.each([
  [5, { ifExpiredByMs: 4 }, 'ready'],
  [5, { ifExpiredByMs: 5 }, 'expired'],
  [undefined, { ifExpiredByMs: 5 }, 'ready'],
  [5, { unlessExpiredByMs: 4 }, 'deleted'],
  [5, { unlessExpiredByMs: 5 }, 'ready'],
  [undefined, { unlessExpiredByMs: 5 }, 'deleted'],
  [5, {}, 'deleted'],
])('documents that expire at %s: delete %j makes it %s', async (expiresAtMs, when, expected) => {
  const one = await recorded(expiresAtMs === undefined ? {} : { expiresAt: new Date(expiresAtMs) })
  const deleted = remainsOf(one, { state: 'deleting', dueAtMs: DUE_MS })
  const outcomes = { ready: one, deleted, expired: { ...deleted, isExpired: true, dueAtMs: expiresAtMs } }
  const after = outcomes[expected as keyof typeof outcomes]
  expect([await deleteIt(one, when), await find(one)]).toEqual([after, after])
})

it('documents leave a tombstone: callers remember it for a day, audits for longer; it keeps the place for as long', async () => {
  const one = await recorded()
  await deleteIt(one)
  // Not yet: its deletion is not finished.
  on.clock.nowMs += 30 * DAY_MS
  expect(await find(one)).toMatchObject({ state: 'deleting' })
  const refund = newRefund(one)
  await nameRefund(one, refund)
  await on.documents.bury(one, newRefund(one).refundId, signal)
  expect(await find(one)).toMatchObject({ state: 'deleting' })
  await on.documents.bury(one, refund.refundId, signal)
  const later = document({ documentId: one.documentId })
  const items = () => Array.fromAsync(on.documents.list(on.workspaceId, signal))
  for (const passMs of [0, DAY_MS - 1000]) {
    on.clock.nowMs += passMs
    const tombstone = remainsOf(one, { state: 'gone', refundId: refund.refundId, refundVersion: 9 })
    for (const each of [await begin(later), await find(one)]) expect(each).toEqual(tombstone)
    expect(await on.documents.findAll(on.workspaceId, [one.documentId], signal)).toEqual([tombstone])
  }
  on.clock.nowMs += 1000
  expect(await find(one)).toBeUndefined()
  expect(await on.documents.findAll(on.workspaceId, [one.documentId], signal)).toEqual([])
  expect(await items()).toMatchObject([{ state: 'gone', attemptId: one.attemptId }])
  expect(await begin(later)).toBeUndefined()
  expect(await items()).toEqual([{ ...pendingOf(later), itemId: one.documentId }])
})

it('documents take the place of what had expired: of that one, gone, and of no other; its tombstone stands beside', async () => {
  const [expired, deleted] = [await recorded({ expiresAt: new Date(5) }), await recorded()]
  const place = (of: WorkspaceDocument) => document({ documentId: of.documentId })
  await buried(deleted)
  await deleteIt(expired, { ifExpiredByMs: 5 })
  const over = async (of: WorkspaceDocument) => (await find(of)) as DeletedDocument
  expect(await begin(place(expired), await over(expired))).toMatchObject({ state: 'deleting' })
  await buried(expired)
  expect(await begin(place(deleted), await over(deleted))).toMatchObject({ state: 'gone' })
  expect(await begin(place(expired))).toMatchObject({ state: 'gone' })
  expect(await begin(place(expired), await over(deleted))).toMatchObject({ state: 'gone' })
  const tombstone = await over(expired)
  expect(tombstone).toMatchObject({ state: 'gone', isExpired: true })
  await on.documents.keepTombstone(tombstone, signal)
  expect(await on.documents.findStray(expired, signal)).toBeUndefined()
  const later = place(expired)
  expect(await begin(later, tombstone)).toBeUndefined()
  const items = (await Array.fromAsync(on.documents.list(on.workspaceId, signal))).filter(
    ({ documentId }) => documentId === expired.documentId,
  )
  expect(items).toEqual([
    { ...pendingOf(later), itemId: expired.documentId },
    { ...tombstone, itemId: `${expired.documentId}/${expired.attemptId}` },
  ])
  const kept = { workspaceId: on.workspaceId, itemId: `${expired.documentId}/${expired.attemptId}`, dueAtMs: 0 }
  for (const [passMs, found] of [[DAY_MS - 1000, tombstone] as const, [1000, undefined] as const]) {
    on.clock.nowMs += passMs
    expect(await on.dueWork.findDue(kept, signal)).toEqual(found)
  }
  // The next attempt at that document has nothing of it.
  await on.documents.record(later, signal)
  expect(await deleteIt(later)).toEqual(remainsOf(later, { state: 'deleting', dueAtMs: DUE_MS }))
})

it('documents have strays beside them, which become due later, never sooner, and go only as they were seen', async () => {
  const one = await recorded()
  const stray = (dueAtMs: number) => strayOf(one, dueAtMs)
  const put = async (dueAtMs: number) => {
    await on.documents.putStray(stray(dueAtMs), signal)
    return on.documents.findStray(one, signal)
  }
  expect(await on.documents.findStray(one, signal)).toBeUndefined()
  expect(await put(5)).toEqual(stray(5))
  expect(await put(7)).toEqual(stray(7))
  expect(await put(6)).toEqual(stray(7))
  for (const dueAtMs of [6, 8]) await on.documents.removeStray(stray(dueAtMs), signal)
  expect(await on.documents.findStray(one, signal)).toEqual(stray(7))
  for (let times = 0; times < 2; times++) await on.documents.removeStray(stray(7), signal)
  expect(await on.documents.findStray(one, signal)).toBeUndefined()
  expect(await find(one)).toEqual(one)
})
