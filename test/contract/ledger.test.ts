/** The explorer does not see how many markers a ledger may have, nor all that its answers tell. */
import { describe, expect, it } from 'vitest'
import { MAX_RELEASES, MAX_TAKINGS } from '../../lib/aws/dynamodb/ledger.ts'
import type { Taking } from '../../lib/ledger/ports/ledger.ts'
import { LEASE_END_MS, newRelease, type TestAttempt } from '../support/stores/ledger-values.ts'
import { useTableStores } from '../support/stores/table-stores.ts'

const { signal } = new AbortController()
/** The most markers of each kind that dead processes may leave in the item. */
const MAX_LEFTOVERS = 40

const asTaking = ({ objectKey: _, ...taking }: TestAttempt): Taking => taking

const on = useTableStores()
const { attempt, taken, counted, ledgerNow } = on
const take = (one: TestAttempt) => on.ledger.take(one, signal, 0)
const mark = (release: ReturnType<typeof newRelease>) => on.ledger.mark(release, signal, 0)
const marked = async (of: Taking) => {
  const release = newRelease(of)
  expect(await mark(release)).toEqual({ markedIn: expect.any(Number) })
  return release
}
/** Tries so often, one after the other. @returns how many tries got a place */
const succeed = async (tries: number, one: () => Promise<boolean>) => {
  let count = 0
  for (let i = 0; i < tries; i++) if (await one()) count++
  return count
}
const takeAll = (tries: number, leaseEndsAtMs = LEASE_END_MS) =>
  succeed(tries, async () => (await take(attempt({ sizeBytes: 1, leaseEndsAtMs }))).outcome === 'taken')
const markAll = (of: Taking, tries: number, leaseEndsAtMs = LEASE_END_MS) =>
  succeed(tries, async () => (await mark(newRelease(of, { leaseEndsAtMs }))) !== 'crowded')

describe('take', () => {
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
      takings: [asTaking(one)],
      releases: [],
    }
    expect(await take(one)).toEqual({ outcome: 'taken', ledger })
    expect(await ledgerNow()).toEqual(ledger)
    expect(await on.ledger.usage(on.workspaceId, signal)).toEqual({ quotaBytes: 1000, usedBytes: 400 })
  })

  it('takes nothing twice for one attempt', async () => {
    const one = await taken({ sizeBytes: 300 })
    expect(await take({ ...one, sizeBytes: 200 })).toMatchObject({ outcome: 'crowded' })
    expect(await ledgerNow()).toMatchObject({ usedBytes: 300, takings: [{ sizeBytes: 300 }] })
  })
})

describe('the places of the item', () => {
  it(`are ${MAX_RELEASES} for releases, beside them; again one, when one has gone`, async () => {
    const one = await counted(300)
    expect(await takeAll(MAX_TAKINGS)).toBe(MAX_TAKINGS)
    const first = await marked(one)
    expect(await markAll(one, MAX_RELEASES)).toBe(MAX_RELEASES - 1)
    await on.ledger.unmark(first, signal)
    expect(await markAll(one, 2)).toBe(1)
    expect((await ledgerNow()).usedBytes).toBe(300 + MAX_TAKINGS)
  })

  it.each([
    ['takings', MAX_TAKINGS],
    ['releases', MAX_RELEASES],
  ] as const)('are not taken up by %s of dead processes, 10 s older and more', async (kind, most) => {
    const one = await counted(1)
    const open = (tries: number, leaseEndsAtMs: number) =>
      kind === 'takings' ? takeAll(tries, leaseEndsAtMs) : markAll(one, tries, leaseEndsAtMs)
    expect(await open(3, LEASE_END_MS - 10_001)).toBe(3)
    expect(await open(most, LEASE_END_MS - 10_000)).toBe(most - 3)
    expect(await open(most, LEASE_END_MS)).toBe(3)
    expect((await ledgerNow())[kind]).toHaveLength(most + 3)
    // The item has its bounds.
    for (let n = 1; n < 9; n++) await open(most, LEASE_END_MS + n * 10_001)
    expect((await ledgerNow())[kind]).toHaveLength(most + MAX_LEFTOVERS)
  })
})

describe('mark', () => {
  it('tells a version at which the bytes are counted still; the marker tells whose they are', async () => {
    const plain = await marked(await counted(300))
    const keyed = newRelease({ ...(await counted(200)), documentId: attempt().documentId })
    expect(await mark(keyed)).toEqual({ markedIn: (await ledgerNow()).version })
    await counted(1)
    expect(await ledgerNow()).toMatchObject({ usedBytes: 501, releases: expect.arrayContaining([plain, keyed]) })
  })

  it('leaves a marker that is there as it is', async () => {
    const release = await marked(await counted(300))
    expect(await mark({ ...release, sizeBytes: 200 })).toBe('crowded')
    expect((await ledgerNow()).releases).toEqual([release])
  })

  it('makes no ledger: one made now would give back what it never counted', async () => {
    await expect(mark(newRelease(attempt()))).rejects.toThrow('has no ledger')
    expect(await on.ledger.read(on.workspaceId, signal)).toBeUndefined()
  })
})

describe('what closes', () => {
  it('gives back what the marker says, once, and tells the usage after it', async () => {
    await counted(300)
    const one = await taken({ sizeBytes: 500 })
    expect(await on.ledger.giveBack({ ...one, sizeBytes: 900 } as Taking, signal)).toEqual({
      quotaBytes: 1000,
      usedBytes: 300,
    })
    expect(await on.ledger.giveBack(one, signal)).toBeUndefined()
    expect(await ledgerNow()).toMatchObject({ usedBytes: 300, takings: [] })
  })
})

it('counts every change in its version, and nothing else', async () => {
  const one = await taken()
  const release = newRelease(one)
  for (const change of [
    () => on.ledger.unmark(one, signal),
    () => mark(release),
    () => on.ledger.giveBack(release, signal),
    () => taken(),
  ]) {
    const { version } = await ledgerNow()
    await change()
    expect((await ledgerNow()).version).toBe(version + 1)
  }
  const before = await ledgerNow()
  await on.ledger.unmark(one, signal)
  await on.ledger.giveBack(release, signal)
  await take(attempt({ sizeBytes: 1001 }))
  expect(await ledgerNow()).toEqual(before)
})
