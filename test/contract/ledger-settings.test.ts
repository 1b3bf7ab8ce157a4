import { expect, it } from 'vitest'
import type { WorkspaceSettings } from '../../lib/ledger/ports/ledger.ts'
import { useTableStores } from '../support/stores/table-stores.ts'

const { signal } = new AbortController()
const NONE = { expireAfterSeconds: undefined, expireAtMostSeconds: undefined, requestsPerMinute: undefined }

const on = useTableStores()
const { attempt, held, ledgerNow } = on
const read = () => on.ledger.read(on.workspaceId, signal)
const create = (settings: WorkspaceSettings) => on.ledger.create(on.workspaceId, settings, signal)
const change = async (to: Partial<WorkspaceSettings>, shown: Partial<WorkspaceSettings> = {}) =>
  on.ledger.change(on.workspaceId, { shown: { quotaBytes: 1000, ...(await read()), ...shown }, to }, signal)

it('changes the settings of no workspace it has never seen', async () => {
  expect([await change({ quotaBytes: 500 }), await change({ expireAfterSeconds: 60 })]).toEqual([undefined, undefined])
  expect(await read()).toBeUndefined()
})

it('sets how long documents are kept, which every hold tells, and the limit; what is not named stays', async () => {
  await held({ sizeBytes: 300 })
  const all = { expireAfterSeconds: 60, expireAtMostSeconds: 90, requestsPerMinute: 30 }
  for (const to of [all, { expireAfterSeconds: 70 }, { expireAtMostSeconds: 80, requestsPerMinute: undefined }, NONE]) {
    const before = await ledgerNow()
    const after = { ...before, ...to, version: before.version + 1 }
    expect(await change(to)).toEqual(after)
    expect(await ledgerNow()).toEqual(after)
    const other = attempt({ sizeBytes: 1 })
    const ledger = { ...after, usedBytes: 301, documents: 2, version: after.version + 1, holds: expect.any(Array) }
    expect(await on.ledger.hold(other, signal, 0)).toEqual({ outcome: 'held', ledger })
    await on.ledger.void(other, signal)
  }
})

it('changes nothing that is no longer as it was shown, unless it is as wanted', async () => {
  const settings = { quotaBytes: 500, expireAfterSeconds: 60, expireAtMostSeconds: 90, requestsPerMinute: 30 }
  await create(settings)
  const before = await ledgerNow()
  for (const [member, wanted] of Object.entries({ ...settings, quotaBytes: 400 })) {
    const other = { [member]: wanted + 1 }
    const stale = [other, { [member]: undefined, ...(member === 'quotaBytes' && { quotaBytes: 1 }) }]
    for (const shown of stale) expect(await change({ [member]: wanted + 2 }, shown), member).toBe('changed')
    expect(await ledgerNow()).toEqual(before)
  }
  expect(await change({ quotaBytes: 400, requestsPerMinute: 30 }, { requestsPerMinute: 31 })).toBe('changed')
  // A repetition after a lost answer.
  expect(await change({ requestsPerMinute: 30 }, { requestsPerMinute: 31 })).toEqual(before)
})
