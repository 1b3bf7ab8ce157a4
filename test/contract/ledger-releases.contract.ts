import { describe, expect, it } from 'vitest'
import { MAX_RELEASES, MAX_TAKINGS } from '../../lib/aws/dynamodb/ledger-update.ts'
import { newAttemptId, newReleaseId } from '../../lib/ids.ts'
import type { Attempt, Release } from '../../lib/ledger/ports/reservations.ts'
import { LEASE_END_MS, newRelease } from '../support/stores/ledger-values.ts'
import type { LedgerOfTest } from '../support/stores/use-ledger.ts'

const { signal } = new AbortController()

/** The part of the contract of the quota ledger that gives bytes back. */
export function describeReleases(on: LedgerOfTest): void {
  const { reservation, take, usage, read, count, mark } = on

  describe('mark', () => {
    it('tells later readers a version at which its bytes are still counted', async () => {
      const release = await mark(await count(300))
      await count(1)
      const version = (await read())?.version ?? 0
      expect(version).toBeGreaterThan(release.markedIn)
      expect((await read())?.releases).toEqual([{ ...release, markedIn: version }])
    })

    it('marks the release of a document by key, whose id the attempt does not tell', async () => {
      const { documentId } = reservation(1)
      const release = await mark({ ...(await count(300)), documentId }, 'deletion')
      expect((await read())?.releases).toEqual([release])
    })

    it('leaves a marker that is there as it is', async () => {
      const release = await mark(await count(300))
      expect(await on.ledger.mark({ ...release, sizeBytes: 200 }, signal)).toBe('crowded')
      expect((await read())?.releases).toEqual([release])
    })

    it('refuses more releases than the item may hold, and marks again when one has gone', async () => {
      const one = await count(300)
      const releases: Release[] = []
      while (releases.length < MAX_RELEASES) releases.push(await mark(one))
      expect(await on.ledger.mark(newRelease(one, 'undo'), signal)).toBe('crowded')
      await on.ledger.unmark(releases[3] as Release, signal)
      await mark(one)
    })

    it('does not let those of dead processes, 10 s older and more, take the place of others', async () => {
      const one = await count(300)
      const markAll = async (most: number, leaseExpiresAtMs: number) => {
        let marked = 0
        for (let i = 0; i < most; i++) {
          if ((await on.ledger.mark(newRelease(one, 'undo', { leaseExpiresAtMs }), signal)) !== 'crowded') marked++
        }
        return marked
      }
      expect(await markAll(3, LEASE_END_MS - 10_001)).toBe(3)
      expect(await markAll(MAX_RELEASES, LEASE_END_MS - 10_000)).toBe(MAX_RELEASES - 3)
      expect(await markAll(MAX_RELEASES, LEASE_END_MS)).toBe(3)
      for (let n = 1; n < 10; n++) await markAll(MAX_RELEASES, LEASE_END_MS + n * 10_001)
      expect((await read())?.releases).toHaveLength(MAX_RELEASES + 60)
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
      expect((await read())?.releases).toMatchObject([{ releaseId: second.releaseId }])
      await on.ledger.unmark(one, signal)
      const left = { takings: [{ attemptId: other.attemptId }], releases: [{ releaseId: second.releaseId }] }
      expect(await read()).toMatchObject(left)
    })
  })

  describe('release', () => {
    it('gives back what was taken, and only once', async () => {
      await count(300)
      const one = reservation(500)
      await take(one)
      expect(await on.ledger.giveBack(one, signal)).toEqual({ quotaBytes: 1000, usedBytes: 300 })
      expect(await on.ledger.giveBack(one, signal)).toBeUndefined()
      expect(await read()).toMatchObject({ usedBytes: 300, takings: [], undos: 0 })
    })

    it('gives back what the marker says, whatever the caller says it was', async () => {
      const one = reservation(500)
      await take(one)
      await on.ledger.giveBack({ ...one, sizeBytes: 900 } as Attempt, signal)
      expect((await usage())?.usedBytes).toBe(0)
    })

    it('gives nothing back for a taking whose marker has gone', async () => {
      const one = await count(500)
      expect(await on.ledger.giveBack(one, signal)).toBeUndefined()
      expect((await usage())?.usedBytes).toBe(500)
    })

    it('gives back what was marked, once, for the one release that it is', async () => {
      const one = await count(300)
      const [release, other] = [await mark(one), await mark(one)]
      expect(await on.ledger.giveBack(release, signal)).toEqual({ quotaBytes: 1000, usedBytes: 0 })
      expect(await on.ledger.giveBack(release, signal)).toBeUndefined()
      expect(await read()).toMatchObject({ usedBytes: 0, releases: [{ releaseId: other.releaseId }], undos: 1 })
    })

    it('counts as undone what was an attempt, not what was a document', async () => {
      const one = await count(300)
      await on.ledger.giveBack(await mark(one, 'deletion'), signal)
      expect(await read()).toMatchObject({ usedBytes: 0, releases: [], undos: 0 })
    })

    it('gives the bytes back once when ten release them at once', async () => {
      await count(300)
      const one = reservation(500)
      await take(one)
      const released = await Promise.all(Array.from({ length: 10 }, () => on.ledger.giveBack(one, signal)))
      expect(released.filter((after) => after !== undefined)).toEqual([{ quotaBytes: 1000, usedBytes: 300 }])
      expect((await usage())?.usedBytes).toBe(300)
    })
  })

  it('closes nothing in a workspace it has never seen, and makes no ledger', async () => {
    for (const releaseId of [undefined, newReleaseId()]) {
      const marker = { workspaceId: on.workspaceId, attemptId: newAttemptId(), ...(releaseId && { releaseId }) }
      await on.ledger.unmark(marker, signal)
      expect(await on.ledger.giveBack(marker, signal)).toBeUndefined()
    }
    expect(await read()).toBeUndefined()
  })
}
