import { describe, expect, it } from 'vitest'
import type { Retention } from '../../lib/ledger/expiry.ts'
import type { LedgerMaintenance } from '../../lib/ledger/ports/ledger-maintenance.ts'
import type { QuotaLedger, StorageUsage } from '../../lib/ledger/ports/quota-ledger.ts'
import type { WorkspaceAdministration } from '../../lib/ledger/ports/workspace-administration.ts'
import { newRelease } from '../support/stores/ledger-values.ts'
import { useLedger } from '../support/stores/use-ledger.ts'

type Ledger = QuotaLedger & LedgerMaintenance & WorkspaceAdministration

const { signal } = new AbortController()
const NO_RETENTION: Retention = { expireAfterSeconds: undefined, expireAtMostSeconds: undefined }

export function describeWorkspaceAdministration(name: string, make: () => Ledger): void {
  describe(`workspace administration: ${name}`, () => {
    const on = useLedger(make)
    const { reservation, take, usage, read, count } = on
    const create = (quotaBytes: number) => on.ledger.create(on.workspaceId, quotaBytes, signal)
    const setQuota = async (toBytes: number): Promise<StorageUsage | undefined> => {
      const shownBytes = (await read())?.quotaBytes ?? 0
      const set = await on.ledger.setQuota(on.workspaceId, { shownBytes, toBytes }, signal)
      return set === 'changed' ? setQuota(toBytes) : set
    }
    const setRetention = async (to: Retention, shown?: Retention) =>
      on.ledger.setRetention(on.workspaceId, { shown: shown ?? (await read()) ?? {}, to }, signal)

    it('makes a workspace once, and tells what is there the second time', async () => {
      expect(await create(500)).toEqual({ isNew: true, usage: { quotaBytes: 500, usedBytes: 0 } })
      await take(reservation(400))
      expect(await create(900)).toEqual({ isNew: false, usage: { quotaBytes: 500, usedBytes: 400 } })
      expect(await usage()).toEqual({ quotaBytes: 500, usedBytes: 400 })
    })

    it('sets the quota of no workspace it has never seen', async () => {
      expect(await setQuota(500)).toBeUndefined()
      expect(await read()).toBeUndefined()
    })

    it.each([
      ['up', 5000],
      ['down', 700],
      ['to what is used', 600],
      ['below what is used', 10],
      ['to nothing', 0],
      ['to what it was', 1000],
    ])('sets the quota %s and leaves used bytes and markers alone', async (_, quotaBytes) => {
      const [kept, open] = [await count(400), reservation(200)]
      await take(open)
      const release = newRelease(kept, 'deletion')
      await on.ledger.mark(release, signal)
      expect(await setQuota(quotaBytes)).toEqual({ quotaBytes, usedBytes: 600 })
      expect(await read()).toMatchObject({
        quotaBytes,
        usedBytes: 600,
        takings: [{ attemptId: open.attemptId, sizeBytes: 200 }],
        releases: [release],
      })
    })

    it('lets nothing in while the quota is below what is used, and just what fits afterwards', async () => {
      const [large, small] = [reservation(600), reservation(300)]
      for (const each of [large, small]) await take(each)
      await setQuota(500)
      expect(await take(reservation(0))).toMatchObject({
        outcome: 'quota_exceeded',
        usage: { quotaBytes: 500, usedBytes: 900 },
      })
      await on.ledger.giveBack(large, signal)
      expect(await take(reservation(201))).toMatchObject({ outcome: 'quota_exceeded' })
      expect(await take(reservation(200))).toMatchObject({
        outcome: 'taken',
        usage: { quotaBytes: 500, usedBytes: 500 },
      })
    })

    it('sets how long documents are kept, which every taking tells, and nothing else of the ledger', async () => {
      expect(await setRetention({ expireAfterSeconds: 60 })).toBeUndefined()
      await take(reservation(300))
      const before = await read()
      const both = { expireAfterSeconds: 60, expireAtMostSeconds: 90 }
      for (const retention of [both, { expireAfterSeconds: 70 }, { expireAtMostSeconds: 80 }, {}]) {
        expect(await setRetention(retention)).toBe('set')
        expect(await read()).toMatchObject({ ...before, ...NO_RETENTION, ...retention, version: expect.any(Number) })
        const other = reservation(1)
        expect(await take(other)).toMatchObject({ outcome: 'taken', retention: { ...NO_RETENTION, ...retention } })
        await on.ledger.giveBack(other, signal)
      }
    })

    it('changes no quota and no time that is no longer as it was shown', async () => {
      const both = { expireAfterSeconds: 60, expireAtMostSeconds: 90 }
      const [after, none] = [{ expireAfterSeconds: 60 }, {}]
      await create(500)
      for (const held of [both, after, none]) {
        await setRetention(held)
        for (const shown of [both, after, { ...both, expireAtMostSeconds: 91 }, { expireAtMostSeconds: 90 }, none]) {
          if (shown === held) continue
          expect(await setRetention({ expireAfterSeconds: 70 }, shown)).toBe('changed')
          expect(await read()).toMatchObject({ ...NO_RETENTION, ...held })
        }
      }
      const set = (shownBytes: number) => on.ledger.setQuota(on.workspaceId, { shownBytes, toBytes: 900 }, signal)
      const usages = [500, 900].map((quotaBytes) => ({ quotaBytes, usedBytes: 0 }))
      const answers = [await set(400), await usage(), await set(500), await set(400)]
      expect(answers).toEqual(['changed', ...usages, usages[1]])
    })

    it('counts as a change, and still lets an audit that added up before make its correction', async () => {
      await take(reservation(300))
      const version = (await read())?.version ?? 0
      await setQuota(400)
      const [forever, aMinute] = [{}, { expireAfterSeconds: 60 }]
      expect(await on.ledger.setRetention(on.workspaceId, { shown: forever, to: aMinute }, signal)).toBe('set')
      expect(await on.ledger.setRetention(on.workspaceId, { shown: aMinute, to: forever }, signal)).toBe('set')
      expect((await read())?.version).toBe(version + 3)
      const drift = { usedBytes: 300, expectedBytes: 250, at: { version, lastVersion: version } }
      expect(await on.ledger.correct(on.workspaceId, drift, signal)).toBe(true)
      expect(await usage()).toEqual({ quotaBytes: 400, usedBytes: 250 })
    })

    it('stays exact while the quota goes up and down under 50 promotions, three administrators at once', async () => {
      await create(1000)
      let settledBytes = 0
      const promotions = Array.from({ length: 50 }, async (_, number) => {
        const one = reservation(number + 1)
        let { outcome } = await take(one)
        while (outcome === 'crowded') ({ outcome } = await take(one))
        if (outcome !== 'taken') return
        if (number % 3 === 0) {
          await on.ledger.giveBack(one, signal)
          return
        }
        await on.ledger.unmark(one, signal)
        settledBytes += one.sizeBytes
      })
      const administrators = [1, 2, 3].map(async (administrator) => {
        for (const quotaBytes of [5000, 0, 700, 2000]) {
          await setQuota(quotaBytes + administrator)
        }
      })
      await Promise.all([...promotions, ...administrators])
      await setQuota(123)
      expect(await read()).toMatchObject({
        quotaBytes: 123,
        usedBytes: settledBytes,
        takings: [],
      })
    })
  })
}
