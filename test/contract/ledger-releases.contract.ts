import { describe, expect, it } from 'vitest'
import { MAX_RELEASES, MAX_TAKINGS } from '../../lib/aws/ledger-openings.ts'
import { newAttemptId, newReleaseId } from '../../lib/ids.ts'
import type { Release, Reservation } from '../../lib/promotion/reservations.ts'
import { newRelease } from '../support/stores/ledger-values.ts'
import type { LedgerOfTest } from '../support/stores/use-ledger.ts'

const { signal } = new AbortController()

/** The part of the contract of the quota ledger that gives bytes back. */
export function describeReleases(on: LedgerOfTest): void {
  const { reservation, take, usage, read, count, mark } = on

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
      await on.ledger.release(release, signal, { keepsMarker: true })
      expect(await on.ledger.mark(release, signal)).toBe('crowded')
      expect((await read())?.releases).toEqual([{ ...release, sizeBytes: 0 }])
    })

    it('refuses more releases than the item may hold, and marks again when one has gone', async () => {
      const one = await count(300)
      const releases: Release[] = []
      while (releases.length < MAX_RELEASES) releases.push(await mark(one))
      expect(await on.ledger.mark(newRelease(one, 'undo'), signal)).toBe('crowded')
      await on.ledger.unmark(releases[3] as Release, signal)
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
      await expect(on.ledger.mark(newRelease(reservation(1), 'undo'), signal)).rejects.toThrow('has no ledger')
      expect(await read()).toBeUndefined()
    })
  })

  describe('unmark', () => {
    it.each(['taking', 'release'])('takes a %s away, once or twice; the bytes stay counted', async (what) => {
      const one = what === 'taking' ? reservation(300) : await count(300)
      if (what === 'taking') await take(one)
      const marker = what === 'taking' ? one : await mark(one)
      for (let times = 0; times < 2; times++) {
        await on.ledger.unmark(marker, signal)
        expect(await read()).toMatchObject({ usedBytes: 300, takings: [], releases: [] })
      }
    })

    it('leaves the other markers alone, of the same attempt, too', async () => {
      const [one, other] = [reservation(300), reservation(200)]
      for (const each of [one, other]) await take(each)
      const [release, second] = [await mark(one), await mark(one)]
      await on.ledger.unmark(release, signal)
      expect((await read())?.releases).toEqual([second])
      await on.ledger.unmark(one, signal)
      expect(await read()).toMatchObject({ takings: [{ attemptId: other.attemptId }], releases: [second] })
    })
  })

  describe('release', () => {
    it('gives back what was taken, and only once', async () => {
      await count(300)
      const one = reservation(500)
      await take(one)
      expect(await on.ledger.release(one, signal)).toEqual({ usage: { quotaBytes: 1000, usedBytes: 300 } })
      expect(await on.ledger.release(one, signal)).toBeUndefined()
      expect(await read()).toMatchObject({ usedBytes: 300, takings: [], undone: 0 })
    })

    it('gives back what the marker says, whatever the caller says it was', async () => {
      const one = reservation(500)
      await take(one)
      await on.ledger.release({ ...one, sizeBytes: 900 } as Reservation, signal)
      expect((await usage())?.usedBytes).toBe(0)
    })

    it('gives nothing back for a taking whose marker has gone', async () => {
      const one = await count(500)
      expect(await on.ledger.release(one, signal)).toBeUndefined()
      expect((await usage())?.usedBytes).toBe(500)
    })

    it('gives back what was marked, once, for the one release that it is', async () => {
      const one = await count(300)
      const [release, other] = [await mark(one), await mark(one)]
      expect(await on.ledger.release(release, signal)).toEqual({ usage: { quotaBytes: 1000, usedBytes: 0 } })
      expect(await on.ledger.release(release, signal)).toBeUndefined()
      expect(await read()).toMatchObject({ usedBytes: 0, releases: [other], undone: 1 })
    })

    it('can keep the marker, without bytes: repeated, it gives nothing more', async () => {
      await count(400)
      const release = await mark(await count(300), 'deletion')
      const countedThrough = (await read())?.version
      for (let times = 0; times < 2; times++) {
        const after = await on.ledger.release(release, signal, { keepsMarker: true })
        expect(after).toEqual({ usage: { quotaBytes: 1000, usedBytes: 400 }, countedThrough })
        expect(await read()).toMatchObject({ releases: [{ ...release, sizeBytes: 0 }], undone: 0 })
      }
      await on.ledger.unmark(release, signal)
      expect(await on.ledger.release(release, signal, { keepsMarker: true })).toBeUndefined()
      expect(await read()).toMatchObject({ usedBytes: 400, releases: [] })
    })

    it('tells takings and releases of one attempt apart', async () => {
      const one = reservation(300)
      await take(one)
      const release = await mark(one)
      await on.ledger.release(one, signal)
      expect(await read()).toMatchObject({ usedBytes: 0, takings: [], releases: [release] })
    })

    it('gives the bytes back once when ten release them at once', async () => {
      await count(300)
      const one = reservation(500)
      await take(one)
      const released = await Promise.all(Array.from({ length: 10 }, () => on.ledger.release(one, signal)))
      expect(released.filter((after) => after !== undefined)).toEqual([{ usage: { quotaBytes: 1000, usedBytes: 300 } }])
      expect((await usage())?.usedBytes).toBe(300)
    })
  })

  it('closes nothing in a workspace it has never seen, and makes no ledger', async () => {
    for (const releaseId of [undefined, newReleaseId()]) {
      const marker = { workspaceId: on.workspaceId, attemptId: newAttemptId(), ...(releaseId && { releaseId }) }
      await on.ledger.unmark(marker, signal)
      expect(await on.ledger.release(marker, signal)).toBeUndefined()
      expect(await on.ledger.release(marker, signal, { keepsMarker: true })).toBeUndefined()
    }
    expect(await read()).toBeUndefined()
  })
}
