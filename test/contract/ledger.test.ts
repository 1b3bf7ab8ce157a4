/** The explorer does not see how many holds and refunds a ledger may have, nor all that its answers tell. */
import { describe, expect, it } from 'vitest'
import { MAX_HOLDS, MAX_REFUNDS } from '../../lib/aws/dynamodb/ledger.ts'
import type { Hold, RefundKey } from '../../lib/ledger/ports/ledger.ts'
import { LEASE_END_MS, newRefund, signal, type TestAttempt } from '../support/stores/ledger-values.ts'
import { useTableStores } from '../support/stores/table-stores.ts'

/** The most of each kind that dead processes may leave in the item. */
const MAX_LEFTOVERS = 40

const asHold = ({ objectKey: _, ...hold }: TestAttempt): Hold => hold

const on = useTableStores()
const { attempt, held, counted, ledgerNow } = on
const hold = (one: TestAttempt) => on.ledger.hold(one, signal, 0)
const beginRefund = (refund: ReturnType<typeof newRefund>) => on.ledger.beginRefund(refund, signal, 0)
const refunding = async (of: Hold) => {
  const refund = newRefund(of)
  expect(await beginRefund(refund)).toEqual({ refundVersion: expect.any(Number) })
  return refund
}
/** Tries so often, one after the other. @returns how many tries got a place */
const succeed = async (tries: number, one: () => Promise<boolean>) => {
  let count = 0
  for (let i = 0; i < tries; i++) if (await one()) count++
  return count
}
const holdAll = (tries: number, leaseEndsAtMs = LEASE_END_MS) =>
  succeed(tries, async () => (await hold(attempt({ sizeBytes: 1, leaseEndsAtMs }))).outcome === 'held')
const beginRefunds = (of: Hold, tries: number, leaseEndsAtMs = LEASE_END_MS) =>
  succeed(tries, async () => (await beginRefund(newRefund(of, { leaseEndsAtMs }))) !== 'crowded')

describe('hold', () => {
  it('starts an unknown workspace with the default quota, and tells its ledger', async () => {
    expect(await on.ledger.usage(on.workspaceId, signal)).toBeUndefined()
    const one = attempt({ sizeBytes: 400 })
    const ledger = {
      workspaceId: on.workspaceId,
      quotaBytes: 1000,
      usedBytes: 400,
      documents: 1,
      version: on.clock.nowMs + 1,
      createdAt: new Date(on.clock.nowMs),
      holds: [asHold(one)],
      refunds: [],
    }
    expect(await hold(one)).toEqual({ outcome: 'held', ledger })
    expect(await ledgerNow()).toEqual(ledger)
    expect(await on.ledger.usage(on.workspaceId, signal)).toEqual({ quotaBytes: 1000, usedBytes: 400 })
  })

  it('takes nothing twice for one attempt', async () => {
    const one = await held({ sizeBytes: 300 })
    expect(await hold({ ...one, sizeBytes: 200 })).toMatchObject({ outcome: 'crowded' })
    expect(await ledgerNow()).toMatchObject({ usedBytes: 300, holds: [{ sizeBytes: 300 }] })
  })
})

describe('the places of the item', () => {
  it(`are ${MAX_REFUNDS} for refunds, beside them; again one, when one has gone`, async () => {
    const one = await counted(300)
    expect(await holdAll(MAX_HOLDS)).toBe(MAX_HOLDS)
    const first = await refunding(one)
    expect(await beginRefunds(one, MAX_REFUNDS)).toBe(MAX_REFUNDS - 1)
    await on.ledger.cancelRefund(first, signal)
    expect(await beginRefunds(one, 2)).toBe(1)
    expect((await ledgerNow()).usedBytes).toBe(300 + MAX_HOLDS)
  })

  it.each([
    ['holds', MAX_HOLDS],
    ['refunds', MAX_REFUNDS],
  ] as const)('are not held up by %s of dead processes, 10 s older and more', async (kind, most) => {
    const one = await counted(1)
    const open = (tries: number, leaseEndsAtMs: number) =>
      kind === 'holds' ? holdAll(tries, leaseEndsAtMs) : beginRefunds(one, tries, leaseEndsAtMs)
    expect(await open(3, LEASE_END_MS - 10_001)).toBe(3)
    expect(await open(most, LEASE_END_MS - 10_000)).toBe(most - 3)
    expect(await open(most, LEASE_END_MS)).toBe(3)
    expect((await ledgerNow())[kind]).toHaveLength(most + 3)
    // The item has its bounds.
    for (let n = 1; n < 9; n++) await open(most, LEASE_END_MS + n * 10_001)
    expect((await ledgerNow())[kind]).toHaveLength(most + MAX_LEFTOVERS)
  })
})

describe('beginRefund', () => {
  it('tells a version at which the bytes are counted still; the refund tells whose they are', async () => {
    const plain = await refunding(await counted(300))
    const keyed = newRefund({ ...(await counted(200)), documentId: attempt().documentId })
    expect(await beginRefund(keyed)).toEqual({ refundVersion: (await ledgerNow()).version })
    await counted(1)
    expect(await ledgerNow()).toMatchObject({ usedBytes: 501, refunds: expect.arrayContaining([plain, keyed]) })
  })

  it('leaves a refund that is there as it is', async () => {
    const refund = await refunding(await counted(300))
    expect(await beginRefund({ ...refund, sizeBytes: 200 })).toBe('crowded')
    expect((await ledgerNow()).refunds).toEqual([refund])
  })

  it('makes no ledger: one made now would free what it never counted', async () => {
    await expect(beginRefund(newRefund(attempt()))).rejects.toThrow('has no ledger')
    expect(await on.ledger.read(on.workspaceId, signal)).toBeUndefined()
  })
})

it('void frees what the hold says, once', async () => {
  await counted(300)
  const one = await held({ sizeBytes: 500 })
  await on.ledger.void({ ...one, sizeBytes: 900 } as Hold, signal)
  await on.ledger.void(one, signal)
  expect(await ledgerNow()).toMatchObject({ usedBytes: 300, documents: 1, holds: [] })
})

it('payRefund frees what the refund says, once, and tells the usage after it', async () => {
  await counted(300)
  const refund = await refunding(await held({ sizeBytes: 500 }))
  const usage = { quotaBytes: 1000, usedBytes: 300 }
  expect(await on.ledger.payRefund({ ...refund, sizeBytes: 900 } as Hold & RefundKey, signal)).toEqual(usage)
  expect(await on.ledger.payRefund(refund, signal)).toBeUndefined()
  expect(await ledgerNow()).toMatchObject({ usedBytes: 300, documents: 1, holds: [], refunds: [] })
})

it('counts every change in its version, and nothing else', async () => {
  const one = await held()
  const refund = newRefund(one)
  for (const change of [
    () => on.ledger.capture(one, signal),
    () => beginRefund(refund),
    () => on.ledger.payRefund(refund, signal),
    () => held(),
  ]) {
    const { version } = await ledgerNow()
    await change()
    expect((await ledgerNow()).version).toBe(version + 1)
  }
  const before = await ledgerNow()
  await on.ledger.capture(one, signal)
  await on.ledger.payRefund(refund, signal)
  await hold(attempt({ sizeBytes: 1001 }))
  expect(await ledgerNow()).toEqual(before)
})
