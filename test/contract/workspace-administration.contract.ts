import { beforeEach, describe, expect, it } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { LedgerMaintenance } from '../../lib/ledger/ports/ledger-maintenance.ts'
import type { QuotaLedger } from '../../lib/ledger/ports/quota-ledger.ts'
import type { WorkspaceAdministration } from '../../lib/ledger/ports/workspace-administration.ts'
import { newAttempt, newRelease, newWorkspaceId } from '../support/stores/ledger-values.ts'

type Ledger = QuotaLedger & LedgerMaintenance & WorkspaceAdministration

const { signal } = new AbortController()

export function describeWorkspaceAdministration(name: string, make: () => Ledger): void {
  describe(`workspace administration: ${name}`, () => {
    let ledger: Ledger
    let workspaceId: WorkspaceId
    const reservation = (sizeBytes: number) => newAttempt({ workspaceId, sizeBytes })

    beforeEach(() => {
      ledger = make()
      workspaceId = newWorkspaceId()
    })

    it('makes a workspace once, and tells what is there the second time', async () => {
      const usage = { quotaBytes: 500, usedBytes: 0 }
      expect(await ledger.create(workspaceId, 500, signal)).toEqual({ isNew: true, usage })
      await ledger.take(reservation(400), signal)
      expect(await ledger.create(workspaceId, 900, signal)).toEqual({
        isNew: false,
        usage: { quotaBytes: 500, usedBytes: 400 },
      })
      expect(await ledger.usage(workspaceId, signal)).toEqual({ quotaBytes: 500, usedBytes: 400 })
    })

    it('sets the quota of no workspace it has never seen', async () => {
      expect(await ledger.setQuota(workspaceId, 500, signal)).toBeUndefined()
      expect(await ledger.read(workspaceId, signal)).toBeUndefined()
    })

    it.each([
      ['up', 5000],
      ['down', 700],
      ['to what is used', 600],
      ['below what is used', 10],
      ['to nothing', 0],
      ['to what it was', 1000],
    ])('sets the quota %s and leaves used bytes and markers alone', async (_, quotaBytes) => {
      const [kept, open] = [reservation(400), reservation(200)]
      await ledger.take(kept, signal)
      await ledger.unmark(kept, signal)
      await ledger.take(open, signal)
      const release = newRelease(kept, 'deletion')
      await ledger.mark(release, signal)
      expect(await ledger.setQuota(workspaceId, quotaBytes, signal)).toEqual({
        previousQuotaBytes: 1000,
        usage: { quotaBytes, usedBytes: 600 },
      })
      expect(await ledger.read(workspaceId, signal)).toMatchObject({
        quotaBytes,
        usedBytes: 600,
        takings: [{ attemptId: open.attemptId, sizeBytes: 200 }],
        releases: [release],
      })
    })

    it('lets nothing in while the quota is below what is used, and just what fits afterwards', async () => {
      const [large, small] = [reservation(600), reservation(300)]
      for (const each of [large, small]) await ledger.take(each, signal)
      await ledger.setQuota(workspaceId, 500, signal)
      expect(await ledger.take(reservation(0), signal)).toMatchObject({
        outcome: 'quota_exceeded',
        usage: { quotaBytes: 500, usedBytes: 900 },
      })
      await ledger.release(large, signal)
      expect(await ledger.take(reservation(201), signal)).toMatchObject({ outcome: 'quota_exceeded' })
      expect(await ledger.take(reservation(200), signal)).toMatchObject({
        outcome: 'taken',
        usage: { quotaBytes: 500, usedBytes: 500 },
      })
    })

    it('counts as a change, and still lets an audit that added up before make its correction', async () => {
      await ledger.take(reservation(300), signal)
      const version = (await ledger.read(workspaceId, signal))?.version ?? 0
      await ledger.setQuota(workspaceId, 400, signal)
      expect((await ledger.read(workspaceId, signal))?.version).toBe(version + 1)
      const drift = { usedBytes: 300, expectedBytes: 250, at: { version, lastVersion: version } }
      expect(await ledger.correct(workspaceId, drift, signal)).toBe(true)
      expect(await ledger.usage(workspaceId, signal)).toEqual({ quotaBytes: 400, usedBytes: 250 })
    })

    it('stays exact while the quota goes up and down under 50 promotions, three administrators at once', async () => {
      await ledger.create(workspaceId, 1000, signal)
      let settledBytes = 0
      const promotions = Array.from({ length: 50 }, async (_, number) => {
        const one = reservation(number + 1)
        let { outcome } = await ledger.take(one, signal)
        while (outcome === 'crowded') ({ outcome } = await ledger.take(one, signal))
        if (outcome !== 'taken') return
        if (number % 3 === 0) {
          await ledger.release(one, signal)
          return
        }
        await ledger.unmark(one, signal)
        settledBytes += one.sizeBytes
      })
      const administrators = [1, 2, 3].map(async (administrator) => {
        for (const quotaBytes of [5000, 0, 700, 2000]) {
          await ledger.setQuota(workspaceId, quotaBytes + administrator, signal)
        }
      })
      await Promise.all([...promotions, ...administrators])
      await ledger.setQuota(workspaceId, 123, signal)
      expect(await ledger.read(workspaceId, signal)).toMatchObject({
        quotaBytes: 123,
        usedBytes: settledBytes,
        takings: [],
      })
    })
  })
}
