import { describe, expect, it } from 'vitest'
import type { Retention } from '../../lib/ledger/expiry.ts'
import type { StorageUsage } from '../../lib/ledger/ports/ledger.ts'
import { newRelease } from '../support/stores/ledger-values.ts'
import { type MakeTableStores, useTableStores } from '../support/stores/table-stores.ts'

const { signal } = new AbortController()
const NO_RETENTION: Retention = { expireAfterSeconds: undefined, expireAtMostSeconds: undefined }

/** What platform teams do with a workspace. */
export function describeLedgerSettings(name: string, make: MakeTableStores): void {
  describe(`ledger settings: ${name}`, () => {
    const on = useTableStores(make)
    const { attempt, taken, counted, ledgerNow } = on
    const read = () => on.ledger.read(on.workspaceId, signal)
    const usage = () => on.ledger.usage(on.workspaceId, signal)
    const take = (one: ReturnType<typeof attempt>) => on.ledger.take(one, signal, 0)
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
      await taken({ sizeBytes: 400 })
      expect(await create(900)).toEqual({ isNew: false, usage: { quotaBytes: 500, usedBytes: 400 } })
      expect(await usage()).toEqual({ quotaBytes: 500, usedBytes: 400 })
    })

    it('sets the quota, and the times, of no workspace it has never seen', async () => {
      expect([await setQuota(500), await setRetention({ expireAfterSeconds: 60 })]).toEqual([undefined, undefined])
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
      const [kept, open] = [await counted(400), await taken({ sizeBytes: 200 })]
      await on.ledger.mark(newRelease(kept), signal, 0)
      const before = await ledgerNow()
      expect(await setQuota(quotaBytes)).toEqual({ quotaBytes, usedBytes: 600 })
      expect(await ledgerNow()).toEqual({ ...before, quotaBytes, version: before.version + 1 })
      expect(before).toMatchObject({ takings: [{ attemptId: open.attemptId }], releases: [{ sizeBytes: 400 }] })
    })

    it('lets nothing in while the quota is below what is used, and just what fits afterwards', async () => {
      const [large] = [await taken({ sizeBytes: 600 }), await taken({ sizeBytes: 300 })]
      await setQuota(500)
      expect(await take(attempt({ sizeBytes: 0 }))).toMatchObject({
        outcome: 'quota_exceeded',
        ledger: { quotaBytes: 500, usedBytes: 900 },
      })
      await on.ledger.giveBack(large, signal)
      expect(await take(attempt({ sizeBytes: 201 }))).toMatchObject({ outcome: 'quota_exceeded' })
      expect(await take(attempt({ sizeBytes: 200 }))).toMatchObject({ outcome: 'taken' })
    })

    it('sets how long documents are kept, which every taking tells, and nothing else of the ledger', async () => {
      await taken({ sizeBytes: 300 })
      const both = { expireAfterSeconds: 60, expireAtMostSeconds: 90 }
      for (const retention of [both, { expireAfterSeconds: 70 }, { expireAtMostSeconds: 80 }, {}]) {
        const before = await ledgerNow()
        expect(await setRetention(retention)).toBe('set')
        const after = { ...before, ...NO_RETENTION, ...retention, version: before.version + 1 }
        expect(await ledgerNow()).toEqual(after)
        const other = attempt({ sizeBytes: 1 })
        const ledger = { ...after, usedBytes: 301, version: after.version + 1, takings: expect.any(Array) }
        expect(await take(other)).toEqual({ outcome: 'taken', ledger })
        await on.ledger.giveBack(other, signal)
      }
    })

    it('changes no quota and no time that is no longer as it was shown', async () => {
      const both = { expireAfterSeconds: 60, expireAtMostSeconds: 90 }
      const [after, none] = [{ expireAfterSeconds: 60 }, {}]
      await create(500)
      for (const held of [both, after, none]) {
        await setRetention(held)
        const before = await ledgerNow()
        for (const shown of [both, after, { ...both, expireAtMostSeconds: 91 }, { expireAtMostSeconds: 90 }, none]) {
          if (shown === held) continue
          expect(await setRetention({ expireAfterSeconds: 70 }, shown)).toBe('changed')
          expect(await ledgerNow()).toEqual(before)
        }
      }
      const set = (shownBytes: number) => on.ledger.setQuota(on.workspaceId, { shownBytes, toBytes: 900 }, signal)
      const usages = [500, 900].map((quotaBytes) => ({ quotaBytes, usedBytes: 0 }))
      const answers = [await set(400), await usage(), await set(500), await set(400)]
      expect(answers).toEqual(['changed', ...usages, usages[1]])
    })

    it('stays exact while the quota goes up and down under 50 promotions, three administrators at once', async () => {
      await create(1000)
      let keptBytes = 0
      const promotions = Array.from({ length: 50 }, async (_, number) => {
        const one = attempt({ sizeBytes: number + 1 })
        let { outcome } = await take(one)
        while (outcome === 'crowded') ({ outcome } = await take(one))
        if (outcome !== 'taken') return
        const isKept = number % 3 > 0
        if (isKept) keptBytes += one.sizeBytes
        await (isKept ? on.ledger.unmark(one, signal) : on.ledger.giveBack(one, signal))
      })
      const administrators = [1, 2, 3].map(async (administrator) => {
        for (const quotaBytes of [5000, 0, 700, 2000]) await setQuota(quotaBytes + administrator)
      })
      await Promise.all([...promotions, ...administrators])
      await setQuota(123)
      expect(await read()).toMatchObject({ quotaBytes: 123, usedBytes: keptBytes, takings: [] })
    })
  })
}
