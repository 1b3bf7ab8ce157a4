import { expect, it } from 'vitest'
import type { Erasure } from '../../lib/ledger/ports/ledger.ts'
import { useTableStores } from '../support/stores/table-stores.ts'

const { signal } = new AbortController()
const ASKED: Erasure = { state: 'scheduled', requestedAtMs: 1000, beginsAtMs: 2000, dueAtMs: 2000 }
const BEGUN: Erasure = { ...ASKED, state: 'erasing', usedBytes: 5, documents: 1, dueAtMs: 3000 }

const on = useTableStores()
const change = (shown: Erasure | undefined, to: Erasure | undefined) =>
  on.erasures.change(on.workspaceId, { shown, to }, signal)
const erasureNow = async () => (await on.ledgerNow()).erasure
const isDue = async (byMs: number) =>
  (await Array.fromAsync(on.erasures.listDue(byMs, signal))).includes(on.workspaceId)

it('an erasure is asked for once, moves on as it was shown, and is due until it is done', async () => {
  expect(await change(undefined, ASKED)).toBe(false)
  await on.held()
  expect([await change(undefined, ASKED), await change(undefined, ASKED)]).toEqual([true, false])
  expect(await erasureNow()).toEqual(ASKED)
  expect([await isDue(1999), await isDue(2000)]).toEqual([false, true])
  expect([await change({ ...ASKED, dueAtMs: 2001 }, BEGUN), await change(BEGUN, ASKED)]).toEqual([false, false])
  expect([await change(ASKED, BEGUN), await change(ASKED, undefined)]).toEqual([true, false])
  const { dueAtMs: _, ...rest } = BEGUN
  const done: Erasure = { ...rest, state: 'erased', endedAtMs: 4000, verifiedAtMs: 5000, refused: 1, reason: 'locked' }
  expect(await change(BEGUN, done)).toBe(true)
  expect([await erasureNow(), await isDue(1e15)]).toEqual([done, false])
})

it('from the request on, a ledger takes no bytes and no correction, and is not removed; what it holds is captured', async () => {
  const one = await on.held()
  const { version, createdAt } = await on.ledgerNow()
  await change(undefined, ASKED)
  const drift = { counted: { usedBytes: 9, documents: 1 }, expected: { usedBytes: 0, documents: 0 } }
  const at = { createdAtMs: createdAt.getTime(), version }
  expect(await on.ledger.correct(on.workspaceId, { ...drift, at }, signal)).toBe(false)
  await on.ledger.capture(one, signal)
  expect(await on.ledgerNow()).toMatchObject({ holds: [], usedBytes: one.sizeBytes })
})

it('clears what is counted only while an erasure is at work, and then nothing that closes finds anything', async () => {
  const one = await on.held()
  const own = {
    label: 'ACME Ltd',
    requestsPerMinute: 5,
    isDisabled: true as const,
    expireAfterSeconds: 9,
    expireAtMostSeconds: 9,
  }
  await on.ledger.change(on.workspaceId, { shown: await on.ledgerNow(), to: own }, signal)
  await change(undefined, ASKED)
  await on.erasures.clear(on.workspaceId, signal)
  expect((await on.ledgerNow()).usedBytes).toBe(one.sizeBytes)
  await change(ASKED, BEGUN)
  await on.erasures.clear(on.workspaceId, signal)
  const cleared = await on.ledgerNow()
  expect(cleared).toMatchObject({ usedBytes: 0, documents: 0, holds: [], refunds: [], erasure: BEGUN })
  for (const name of Object.keys(own)) expect(cleared).not.toHaveProperty(name)
  await on.ledger.void(one, signal)
  const to = { label: 'comes late' }
  expect(await on.ledger.change(on.workspaceId, { shown: { quotaBytes: 0 }, to }, signal)).toBe('changed')
  expect(await on.ledgerNow()).toEqual(cleared)
  expect(await on.ledger.remove(on.workspaceId, cleared.version, signal)).toBe(false)
})

it('removes all items of a workspace, in each state, and none of another whose id begins alike', async () => {
  const [gone] = [await on.recorded(), await on.begun(), await on.recorded()]
  await on.buried(gone)
  const other = on.document({ workspaceId: `${on.workspaceId}0` as typeof on.workspaceId })
  await on.begun(other)
  const removed = await Array.fromAsync(on.erasures.removeItems(on.workspaceId, signal))
  expect(removed.reduce((sum, each) => sum + each, 0)).toBe(3)
  expect(await Array.fromAsync(on.documents.list(on.workspaceId, signal))).toEqual([])
  expect(await Array.fromAsync(on.documents.list(other.workspaceId, signal))).toHaveLength(1)
})
