import { describe, expect, it } from 'vitest'
import { MAX_RELEASES, MAX_TAKINGS } from '../../lib/aws/dynamodb/ledger-update.ts'
import type { LedgerMaintenance } from '../../lib/ledger/ports/ledger-maintenance.ts'
import type { QuotaLedger } from '../../lib/ledger/ports/quota-ledger.ts'
import type { Attempt } from '../../lib/ledger/ports/reservations.ts'
import { LEASE_END_MS } from '../support/stores/ledger-values.ts'
import { useLedger } from '../support/stores/use-ledger.ts'
import { describeReleases } from './ledger-releases.contract.ts'

const { signal } = new AbortController()

/** @param make has room for {@link MAX_TAKINGS} takings and {@link MAX_RELEASES} releases in a workspace */
export function describeQuotaLedger(name: string, make: () => QuotaLedger & LedgerMaintenance): void {
  describe(`quota ledger: ${name}`, () => {
    const on = useLedger(make)
    const { reservation, take, usage, read, count } = on

    describe('take', () => {
      it('starts an unknown workspace with the default quota', async () => {
        expect(await usage()).toBeUndefined()
        expect(await take(reservation(400))).toEqual({
          outcome: 'taken',
          usage: { quotaBytes: 1000, usedBytes: 400 },
          retention: {},
          countedFrom: (await read())?.version,
        })
        expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 400 })
      })

      it('takes up to the last byte and not one more', async () => {
        await take(reservation(400))
        const [some, full] = [400, 1000].map((usedBytes) => ({ quotaBytes: 1000, usedBytes }))
        expect(await take(reservation(601))).toEqual({ outcome: 'quota_exceeded', usage: some })
        expect(await take(reservation(600))).toMatchObject({ outcome: 'taken', usage: full })
        expect(await take(reservation(1))).toEqual({ outcome: 'quota_exceeded', usage: full })
        expect(await take(reservation(0))).toMatchObject({ outcome: 'taken', usage: full })
      })

      it('marks what it took, to the byte and with its lease', async () => {
        const one = reservation(300)
        await take(one)
        const { attemptId, sizeBytes, leaseExpiresAtMs } = one
        expect((await read())?.takings).toEqual([
          { workspaceId: on.workspaceId, attemptId, sizeBytes, leaseExpiresAtMs },
        ])
      })

      it('takes nothing twice for one attempt', async () => {
        const one = reservation(300)
        await take(one)
        expect(await take({ ...one, sizeBytes: 200 })).toEqual({ outcome: 'crowded' })
        expect(await read()).toMatchObject({ usedBytes: 300, takings: [{ sizeBytes: 300 }] })
      })

      it('refuses more takings than its item may hold, and takes again when one has gone', async () => {
        const taken = Array.from({ length: MAX_TAKINGS }, () => reservation(1))
        for (const each of taken) expect(await take(each)).toMatchObject({ outcome: 'taken' })
        expect(await take(reservation(1))).toEqual({ outcome: 'crowded' })
        await on.ledger.unmark(taken[7] as Attempt, signal)
        expect(await take(reservation(1))).toMatchObject({ outcome: 'taken' })
        expect((await usage())?.usedBytes).toBe(MAX_TAKINGS + 1)
      })

      it('does not let takings of dead processes, 10 s older and more, take the place of others', async () => {
        const takeAll = async (count: number, leaseExpiresAtMs: number) => {
          const outcomes = []
          for (let i = 0; i < count; i++) outcomes.push((await take(reservation(1, { leaseExpiresAtMs }))).outcome)
          return outcomes.filter((outcome) => outcome === 'taken').length
        }
        expect(await takeAll(5, LEASE_END_MS - 10_001)).toBe(5)
        expect(await takeAll(MAX_TAKINGS, LEASE_END_MS - 10_000)).toBe(MAX_TAKINGS - 5)
        expect(await takeAll(MAX_TAKINGS, LEASE_END_MS)).toBe(5)
        expect((await read())?.takings).toHaveLength(MAX_TAKINGS + 5)
      })

      it('holds no more than 60 takings of dead processes: the item has its bounds', async () => {
        for (let generation = 0; generation < 5; generation++) {
          for (let i = 0; i < MAX_TAKINGS; i++) {
            await take(reservation(1, { leaseExpiresAtMs: LEASE_END_MS + generation * 10_001 }))
          }
        }
        expect((await read())?.takings).toHaveLength(MAX_TAKINGS + 60)
      })

      it('names the quota when both it and the number of takings stand in the way', async () => {
        await take(reservation(1000 - 50 * (MAX_TAKINGS - 1)))
        for (let i = 1; i < MAX_TAKINGS; i++) await take(reservation(50))
        expect(await take(reservation(1))).toMatchObject({ outcome: 'quota_exceeded' })
      })

      it('lets exactly as many of simultaneous takes in as fit', async () => {
        await count(0)
        const outcomes = await Promise.all(Array.from({ length: 20 }, () => take(reservation(400))))
        expect(outcomes.filter(({ outcome }) => outcome === 'taken')).toHaveLength(2)
        expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 800 })
      })

      it('makes one ledger when simultaneous takes are the first', async () => {
        const outcomes = await Promise.all(Array.from({ length: 10 }, () => take(reservation(100))))
        expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array(10).fill('taken'))
        expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 1000 })
      })
    })

    describeReleases(on)
  })
}
