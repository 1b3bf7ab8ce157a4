import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_RELEASES, MAX_TAKINGS } from '../../lib/aws/ledger-openings.ts'
import { newAttemptId, newReleaseId, type WorkspaceId } from '../../lib/ids.ts'
import type { LedgerMaintenance } from '../../lib/maintenance/ledger-maintenance.ts'
import type { QuotaLedger } from '../../lib/promotion/quota-ledger.ts'
import type { Release, Reservation } from '../../lib/promotion/reservations.ts'
import { LEASE_END_MS, newRelease, newReservation, newWorkspaceId } from '../support/ledger-values.ts'

export const LEDGER_NOW_MS = 1_800_000_000_000
export const LEDGER_SETTINGS = { defaultQuotaBytes: 1000, now: () => LEDGER_NOW_MS }
const { signal } = new AbortController()

/** @param make has room for {@link MAX_TAKINGS} takings and {@link MAX_RELEASES} releases in a workspace */
export function describeQuotaLedger(name: string, make: () => QuotaLedger & LedgerMaintenance): void {
  describe(`quota ledger: ${name}`, () => {
    let ledger: QuotaLedger & LedgerMaintenance
    let workspaceId: WorkspaceId
    const reservation = (sizeBytes: number, change: Partial<Reservation> = {}) =>
      newReservation({ workspaceId, sizeBytes, ...change })
    const take = (one: Reservation) => ledger.take(one, signal)
    const usage = () => ledger.usage(workspaceId, signal)
    const read = () => ledger.read(workspaceId, signal)

    /** Bytes that are counted, without a marker. */
    const count = async (sizeBytes: number) => {
      const one = reservation(sizeBytes)
      await take(one)
      await ledger.unmark(one, signal)
      return one
    }
    const mark = async (of: Reservation, purpose: Release['purpose'] = 'undo') => {
      const release = newRelease(of, purpose)
      expect(await ledger.mark(release, signal)).toBe('marked')
      return release
    }

    beforeEach(() => {
      ledger = make()
      workspaceId = newWorkspaceId()
    })

    describe('take', () => {
      it('starts an unknown workspace with the default quota', async () => {
        expect(await usage()).toBeUndefined()
        expect(await take(reservation(400))).toEqual({
          outcome: 'taken',
          usage: { quotaBytes: 1000, usedBytes: 400 },
          countedFrom: (await read())?.version,
        })
        expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 400 })
      })

      it('takes up to the last byte and not one more', async () => {
        await take(reservation(400))
        const [some, full] = [400, 1000].map((usedBytes) => ({ quotaBytes: 1000, usedBytes }))
        expect(await take(reservation(601))).toEqual({ outcome: 'quota_exceeded', usage: some, isDue: false })
        expect(await take(reservation(600))).toMatchObject({ outcome: 'taken', usage: full })
        expect(await take(reservation(1))).toEqual({ outcome: 'quota_exceeded', usage: full, isDue: false })
        expect(await take(reservation(0))).toMatchObject({ outcome: 'taken', usage: full })
      })

      it('marks what it took, to the byte and with its lease', async () => {
        const one = reservation(300)
        await take(one)
        const { attemptId, sizeBytes, leaseExpiresAtMs } = one
        expect((await read())?.takings).toEqual([{ workspaceId, attemptId, sizeBytes, leaseExpiresAtMs }])
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
        await ledger.unmark(taken[7] as Reservation, signal)
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

      it('holds no more than 60 of these: the item has its bounds', async () => {
        for (let generation = 0; generation < 5; generation++) {
          for (let i = 0; i < MAX_TAKINGS; i++) {
            await take(reservation(1, { leaseExpiresAtMs: LEASE_END_MS + generation * 10_001 }))
          }
        }
        expect((await read())?.takings).toHaveLength(MAX_TAKINGS + 60)
      })

      it('names the quota when both it and the number of takings stand in the way', async () => {
        for (let i = 0; i < MAX_TAKINGS; i++) await take(reservation(50))
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

      it('keeps workspaces apart', async () => {
        await take(reservation(1000))
        const other = newReservation({ workspaceId: newWorkspaceId(), sizeBytes: 1000 })
        expect(await take(other)).toMatchObject({ outcome: 'taken' })
      })

      it.each([
        ['says that expired reservations may be in the way', LEDGER_NOW_MS, true],
        ['says that none is in the way, as all leases run', LEDGER_NOW_MS + 1, false],
      ])('%s, in every refusal', async (_, leaseExpiresAtMs, isDue) => {
        for (let i = 0; i < MAX_TAKINGS; i++) await take(reservation(1, { leaseExpiresAtMs }))
        expect(await take(reservation(1000))).toMatchObject({ outcome: 'quota_exceeded', isDue })
        expect(await take(reservation(1, { leaseExpiresAtMs }))).toEqual({ outcome: 'crowded' })
      })
    })

    describe('mark', () => {
      it('announces a release, to the byte, and changes no bytes', async () => {
        const release = await mark(await count(300), 'deletion')
        expect(await read()).toMatchObject({ usedBytes: 300, releases: [release] })
      })

      it('marks several releases of the same bytes, each under its id', async () => {
        const one = await count(300)
        const releases = [await mark(one), await mark(one)]
        expect((await read())?.releases).toEqual(expect.arrayContaining(releases))
      })

      it('leaves a marker that is there as it is', async () => {
        const release = await mark(await count(300))
        await ledger.release(release, signal, { keepsMarker: true })
        expect(await ledger.mark(release, signal)).toBe('crowded')
        expect((await read())?.releases).toEqual([{ ...release, sizeBytes: 0 }])
      })

      it('refuses more releases than the item may hold, and marks again when one has gone', async () => {
        const one = await count(300)
        const releases: Release[] = []
        while (releases.length < MAX_RELEASES) releases.push(await mark(one))
        expect(await ledger.mark(newRelease(one, 'undo'), signal)).toBe('crowded')
        await ledger.unmark(releases[3] as Release, signal)
        await mark(one)
      })

      it('does not wait for takings, nor they for it', async () => {
        const one = await count(300)
        for (let i = 0; i < MAX_TAKINGS; i++) await take(reservation(1))
        for (let i = 0; i < MAX_RELEASES; i++) await mark(one)
        expect(await take(reservation(1))).toMatchObject({ outcome: 'crowded' })
        expect((await usage())?.usedBytes).toBe(300 + MAX_TAKINGS)
      })

      it('makes no ledger: one made now would give back what it never counted', async () => {
        await expect(ledger.mark(newRelease(reservation(1), 'undo'), signal)).rejects.toThrow('has no ledger')
        expect(await read()).toBeUndefined()
      })
    })

    describe('unmark', () => {
      it.each(['taking', 'release'])('takes a %s away, once or twice; the bytes stay counted', async (what) => {
        const one = what === 'taking' ? reservation(300) : await count(300)
        if (what === 'taking') await take(one)
        const marker = what === 'taking' ? one : await mark(one)
        for (let times = 0; times < 2; times++) {
          await ledger.unmark(marker, signal)
          expect(await read()).toMatchObject({ usedBytes: 300, takings: [], releases: [] })
        }
      })

      it('leaves the other markers alone, of the same attempt, too', async () => {
        const [one, other] = [reservation(300), reservation(200)]
        for (const each of [one, other]) await take(each)
        const [release, second] = [await mark(one), await mark(one)]
        await ledger.unmark(release, signal)
        expect((await read())?.releases).toEqual([second])
        await ledger.unmark(one, signal)
        expect(await read()).toMatchObject({ takings: [{ attemptId: other.attemptId }], releases: [second] })
      })
    })

    describe('release', () => {
      it('gives back what was taken, and only once', async () => {
        await count(300)
        const one = reservation(500)
        await take(one)
        expect(await ledger.release(one, signal)).toEqual({ usage: { quotaBytes: 1000, usedBytes: 300 } })
        expect(await ledger.release(one, signal)).toBeUndefined()
        expect(await read()).toMatchObject({ usedBytes: 300, takings: [], undone: 0 })
      })

      it('gives back what the marker says, whatever the caller says it was', async () => {
        const one = reservation(500)
        await take(one)
        await ledger.release({ ...one, sizeBytes: 900 } as Reservation, signal)
        expect((await usage())?.usedBytes).toBe(0)
      })

      it('gives nothing back for a taking whose marker has gone', async () => {
        const one = await count(500)
        expect(await ledger.release(one, signal)).toBeUndefined()
        expect((await usage())?.usedBytes).toBe(500)
      })

      it('gives back what was marked, once, for the one release that it is', async () => {
        const one = await count(300)
        const [release, other] = [await mark(one), await mark(one)]
        expect(await ledger.release(release, signal)).toEqual({ usage: { quotaBytes: 1000, usedBytes: 0 } })
        expect(await ledger.release(release, signal)).toBeUndefined()
        expect(await read()).toMatchObject({ usedBytes: 0, releases: [other], undone: 1 })
      })

      it('can keep the marker, without bytes: repeated, it gives nothing more', async () => {
        await count(400)
        const release = await mark(await count(300), 'deletion')
        const countedThrough = (await read())?.version
        for (let times = 0; times < 2; times++) {
          const after = await ledger.release(release, signal, { keepsMarker: true })
          expect(after).toEqual({ usage: { quotaBytes: 1000, usedBytes: 400 }, countedThrough })
          expect(await read()).toMatchObject({ releases: [{ ...release, sizeBytes: 0 }], undone: 0 })
        }
        await ledger.unmark(release, signal)
        expect(await ledger.release(release, signal, { keepsMarker: true })).toBeUndefined()
        expect(await read()).toMatchObject({ usedBytes: 400, releases: [] })
      })

      it('tells takings and releases of one attempt apart', async () => {
        const one = reservation(300)
        await take(one)
        const release = await mark(one)
        await ledger.release(one, signal)
        expect(await read()).toMatchObject({ usedBytes: 0, takings: [], releases: [release] })
      })

      it('gives the bytes back once when ten release them at once', async () => {
        await count(300)
        const one = reservation(500)
        await take(one)
        const released = await Promise.all(Array.from({ length: 10 }, () => ledger.release(one, signal)))
        expect(released.filter((after) => after !== undefined)).toEqual([
          { usage: { quotaBytes: 1000, usedBytes: 300 } },
        ])
        expect((await usage())?.usedBytes).toBe(300)
      })
    })

    it('closes nothing in a workspace it has never seen, and makes no ledger', async () => {
      for (const releaseId of [undefined, newReleaseId()]) {
        const marker = { workspaceId, attemptId: newAttemptId(), ...(releaseId && { releaseId }) }
        await ledger.unmark(marker, signal)
        expect(await ledger.release(marker, signal)).toBeUndefined()
        expect(await ledger.release(marker, signal, { keepsMarker: true })).toBeUndefined()
      }
      expect(await read()).toBeUndefined()
    })
  })
}
