import { expect, it } from 'vitest'
import type { Retention } from '../../lib/ledger/expiry.ts'
import { newRelease } from '../support/stores/ledger-values.ts'
import { useTableStores } from '../support/stores/table-stores.ts'

const { signal } = new AbortController()
const NO_RETENTION: Retention = { expireAfterSeconds: undefined, expireAtMostSeconds: undefined }

const on = useTableStores()
const { attempt, taken, counted, ledgerNow } = on
const read = () => on.ledger.read(on.workspaceId, signal)
const usage = () => on.ledger.usage(on.workspaceId, signal)
const take = (one: ReturnType<typeof attempt>) => on.ledger.take(one, signal, 0)
const create = (quotaBytes: number) => on.ledger.create(on.workspaceId, quotaBytes, signal)
const setQuota = (toBytes: number, shownBytes = 1000) =>
  on.ledger.setQuota(on.workspaceId, { shownBytes, toBytes }, signal)
const setRetention = async (to: Retention, shown?: Retention) =>
  on.ledger.setRetention(on.workspaceId, { shown: shown ?? (await read()) ?? {}, to }, signal)

it('sets the quota, and the times, of no workspace it has never seen', async () => {
  expect([await setQuota(500), await setRetention({ expireAfterSeconds: 60 })]).toEqual([undefined, undefined])
  expect(await read()).toBeUndefined()
})

it.each([
  ['up', 5000],
  ['below what is used', 10],
])('sets the quota %s and leaves used bytes and markers alone', async (_, quotaBytes) => {
  const [kept, open] = [await counted(400), await taken({ sizeBytes: 200 })]
  await on.ledger.mark(newRelease(kept), signal, 0)
  const before = await ledgerNow()
  const after = { ...before, quotaBytes, version: before.version + 1 }
  expect(await setQuota(quotaBytes)).toEqual(after)
  expect(await ledgerNow()).toEqual(after)
  expect(before).toMatchObject({ takings: [{ attemptId: open.attemptId }], releases: [{ sizeBytes: 400 }] })
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
    const ledger = { ...after, usedBytes: 301, documents: 2, version: after.version + 1, takings: expect.any(Array) }
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
  const usages = [500, 900].map((quotaBytes) => expect.objectContaining({ quotaBytes, usedBytes: 0 }))
  const answers = [await setQuota(900, 400), await usage(), await setQuota(900, 500), await setQuota(900, 400)]
  expect(answers).toEqual(['changed', ...usages, usages[1]])
})
