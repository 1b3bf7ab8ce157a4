import { describe, expect, it } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { WorkspaceLedger, WorkspaceSettings } from '../../lib/ledger/ports/ledger.ts'
import type { TableShard } from '../../lib/ledger/ports/ledger-maintenance.ts'
import { newRefund, newWorkspaceId, signal } from '../support/stores/ledger-values.ts'
import { useTableStores } from '../support/stores/table-stores.ts'

const on = useTableStores()
const { attempt, held, counted, ledgerNow } = on
const read = () => on.ledger.read(on.workspaceId, signal)
const usage = () => on.ledger.usage(on.workspaceId, signal)
const hold = (one: ReturnType<typeof attempt>) => on.ledger.hold(one, signal, 0)
const create = () => on.ledger.create(on.workspaceId, { quotaBytes: 500 }, signal)

const SHARES = 4
/** Each gives the workspace one item, or one more. */
const TABLES: [string, (share: TableShard) => AsyncIterable<WorkspaceId>, (id: WorkspaceId) => Promise<unknown>][] = [
  ['Workspaces', (share) => on.ledger.list(signal, share), (id) => on.ledger.create(id, { quotaBytes: 1000 }, signal)],
  [
    'Documents',
    (share) => on.documents.listWorkspaces(share, signal),
    (workspaceId) => on.begun(on.document({ workspaceId })),
  ],
]

it.each(TABLES)('%s tells its workspaces in shares, disjoint and complete; each goes on after any', async (...row) => {
  const [, list, add] = row
  const read = (shard: number, after?: WorkspaceId) => Array.fromAsync(list({ shard, totalShards: SHARES, after }))
  const ids = Array.from({ length: 40 }, newWorkspaceId)
  for (const id of ids) for (let times = 0; times < 3; times++) await add(id)
  const shares = await Promise.all(Array.from({ length: SHARES }, (_, shard) => read(shard)))
  const all = shares.flat()
  expect(new Set(all).size).toBe(all.length)
  expect(all).toEqual(expect.arrayContaining(ids))
  for (const [shard, share] of shares.entries()) {
    expect(share.length).toBeGreaterThan(1)
    for (const [index, id] of share.entries()) {
      if (index % 3 === 0) expect(await read(shard, id)).toEqual(share.slice(index + 1))
    }
  }
})

describe('correct', () => {
  const correct = (expectedBytes: number, of?: Pick<WorkspaceLedger, 'createdAt' | 'version'>, usedBytes = 100) => {
    const at = of && { at: { createdAtMs: of.createdAt.getTime(), version: of.version } }
    const drift = { counted: { usedBytes, documents: 1 }, expected: { usedBytes: expectedBytes, documents: 3 } }
    return on.ledger.correct(on.workspaceId, { ...drift, ...at }, signal)
  }

  it('changes the used bytes by the drift, once, and nothing else', async () => {
    await held()
    const before = await ledgerNow()
    for (let times = 0; times < 2; times++) expect(await correct(40, before)).toBe(true)
    expect(await ledgerNow()).toEqual({ ...before, usedBytes: 40, documents: 3, version: before.version + 1 })
  })

  it('does so again for a drift that was seen after the last correction', async () => {
    await held()
    expect(await correct(40, await ledgerNow())).toBe(true)
    const corrected = await ledgerNow()
    await held()
    expect(await correct(35, corrected, 40)).toBe(true)
    expect((await usage())?.usedBytes).toBe(135)
  })

  it('leaves a ledger alone that was made since', async () => {
    await held()
    const { version, createdAt } = await ledgerNow()
    expect(await correct(700)).toBe(false)
    expect(await correct(700, { version: version + 1, createdAt })).toBe(false)
    expect(await correct(700, { version: version - 1, createdAt: new Date(createdAt.getTime() - 1) })).toBe(false)
    expect((await usage())?.usedBytes).toBe(100)
    expect(await correct(700, { version: version - 1, createdAt })).toBe(true)
    expect(await correct(700, { version: version - 1, createdAt: new Date(0) }), 'of another ledger').toBe(false)
  })

  it('makes the ledger of a workspace that has lost it', async () => {
    expect(await correct(700, { version: 1, createdAt: new Date(0) })).toBe(false)
    expect(await correct(700)).toBe(true)
    expect(await correct(700)).toBe(false)
    expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 700 })
    expect(await hold(attempt({ sizeBytes: 301 }))).toMatchObject({ outcome: 'quota_exceeded' })
    await held({ sizeBytes: 300 })
  })
})

describe('change', () => {
  const NONE = { expireAfterSeconds: undefined, expireAtMostSeconds: undefined, requestsPerMinute: undefined }
  const change = async (to: Partial<WorkspaceSettings>, shown: Partial<WorkspaceSettings> = {}) =>
    on.ledger.change(on.workspaceId, { shown: { quotaBytes: 1000, ...(await read()), ...shown }, to }, signal)

  it('changes the settings of no workspace it has never seen', async () => {
    for (const to of [{ quotaBytes: 500 }, { expireAfterSeconds: 60 }]) expect(await change(to)).toBeUndefined()
    expect(await read()).toBeUndefined()
  })

  it('sets how long documents are kept, which every hold tells, and the limit; what is not named stays', async () => {
    await held({ sizeBytes: 300 })
    const all = { expireAfterSeconds: 60, expireAtMostSeconds: 90, requestsPerMinute: 30 }
    const two = { expireAtMostSeconds: 80, requestsPerMinute: undefined }
    for (const to of [all, { expireAfterSeconds: 70 }, two, NONE]) {
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
    await on.ledger.create(on.workspaceId, settings, signal)
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
})

describe('remove', () => {
  const remove = (version: number | undefined) => on.ledger.remove(on.workspaceId, version, signal)

  it('takes an empty one away, once or twice, and is fine with one that was never there', async () => {
    expect(await remove(undefined)).toBe(true)
    await create()
    const { version } = await ledgerNow()
    for (let times = 0; times < 2; times++) expect(await remove(version)).toBe(true)
    expect(await read()).toBeUndefined()
    // Then it is as one that was never seen.
    expect(await hold(attempt())).toMatchObject({ outcome: 'held', ledger: { quotaBytes: 1000 } })
  })

  it.each<[string, () => Promise<unknown>, seen?: 'before' | 'never']>([
    ['counts bytes', () => counted(1)],
    ['counts a document that weighs nothing', () => counted(0)],
    ['has a hold under way that weighs nothing', () => held({ sizeBytes: 0 })],
    [
      'has a deletion under way of what weighs nothing',
      async () => on.ledger.beginRefund(newRefund(await counted(0)), signal, 0),
    ],
    ['changed since it was seen, though it is empty again', async () => on.ledger.void(await held(), signal), 'before'],
    ['was made after none was seen', async () => {}, 'never'],
  ])('refuses one that %s, and changes nothing', async (_, change, seen) => {
    await create()
    const { version: made } = await ledgerNow()
    await change()
    const before = await ledgerNow()
    expect(await remove(seen === 'before' ? made : seen === 'never' ? undefined : before.version)).toBe(false)
    expect(await ledgerNow()).toEqual(before)
  })
})
