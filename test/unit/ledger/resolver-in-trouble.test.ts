import { afterEach, describe, expect, it, vi } from 'vitest'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { createPorts, LEASE_MS, NOTHING } from '../../support/ports.ts'
import {
  addExpired,
  done,
  IDLE,
  idsOf,
  nth,
  resolve,
  times,
  turns,
  whenDeleted,
  whenRead,
  withExpired,
} from '../../support/unit/resolver-runs.ts'

const NOT_DELETED = 'expired document not deleted, left to a later run'

afterEach(() => vi.restoreAllMocks())
/** Of the index of due work. */
const SHARD = 3

describe('resolveDueItems, in trouble', () => {
  it('leaves what cannot be read to later runs, and does all others of the workspace', async () => {
    const { ports, added } = await withExpired(times(35, 1))
    const unreadable = idsOf(added.slice(0, 30))
    const error = new UnreadableItemError('no size')
    whenRead(ports, ({ itemId }) => {
      if (unreadable.includes(itemId as never)) throw error
    })
    for (const resolved of [5, 0]) {
      expect(await resolve('expiry', ports)).toEqual({ ...done(resolved), failed: 30, oldestMs: 34 })
    }
    const fields = { workspace_id: nth(1), item_id: unreadable[0], error }
    expect(ports.logged).toContainEqual({ level: 'error', message: NOT_DELETED, ...fields })
  })

  it('leaves a workspace in which much fails to a later run', async () => {
    const { ports } = await withExpired([...times(60, 1), 4, 4], SHARD)
    whenDeleted(ports, ({ workspaceId }) => {
      if (workspaceId === nth(1)) throw new Error('down')
    })
    const report = await resolve('expiry', ports)
    expect(report).toMatchObject({ resolved: 2, failed: 20, oldestMs: 61 })
    vi.restoreAllMocks()
    expect(await resolve('expiry', ports)).toEqual(done(60))
  })

  it('does the others of a workspace, although the 50 that are longest due fail for good, within some runs', async () => {
    const { ports, added } = await withExpired(times(60, 1), SHARD)
    const lost = new Set(idsOf(added.slice(0, 50)))
    whenDeleted(ports, ({ documentId }) => {
      if (lost.has(documentId)) throw new Error('refused')
    })
    let resolved = 0
    // Each run has tried ten of them at random: 200 that never meet the same one are less likely than one in 10^17.
    for (let runs = 0; resolved < 10 && runs < 200; runs++) resolved += (await resolve('expiry', ports)).resolved
    expect(resolved).toBe(10)
    expect(idsOf(ports.stored.documents()).toSorted()).toEqual([...lost].toSorted())
  })

  it('leaves to a later run what a dead process left, says so, and goes on with it then', async () => {
    const ports = createPorts()
    const { documentId, workspaceId } = await ports.run(['begin', 'copy', 'hold'])
    ports.pass(LEASE_MS + 1000)
    const error = new Error('down')
    vi.spyOn(ports.documents, 'putStray').mockRejectedValueOnce(error)
    expect(await resolve('work', ports)).toEqual({ ...IDLE, failed: 1, oldestMs: 1000 })
    const message = 'leftover not resolved, left to a later run'
    expect(ports.logged).toEqual([{ level: 'error', message, workspace_id: workspaceId, item_id: documentId, error }])
    expect(await resolve('work', ports)).toEqual({ ...IDLE, resolved: 1 })
    await ports.resolveAll()
    expect(ports.state()).toEqual(NOTHING)
  })

  it('gives up one that hangs when its time is over, and does the others meanwhile', async () => {
    const { ports, added } = await withExpired([1, 4], SHARD)
    await addExpired(ports, [1], SHARD + 1)
    const over = new AbortController()
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(over.signal)
    whenDeleted(ports, async ({ documentId }, deleteSignal) => {
      if (documentId !== added[0]?.documentId) return
      await new Promise((_, reject) => deleteSignal.addEventListener('abort', () => reject(deleteSignal.reason)))
    })
    const running = resolve('expiry', ports, { timeoutEachMs: 10_000 })
    const gone = () => ports.stored.items().filter(({ state }) => state === 'gone')
    while (gone().length < 2) await turns(10)
    await turns(10)
    over.abort()
    expect(await running).toEqual({ ...done(2), failed: 1, oldestMs: 1 })
    expect(timeout.mock.calls).toEqual([[10_000], [10_000], [10_000]])
  })

  it('ends when its time is over, without a word, and tells how long the oldest is due that is left', async () => {
    const { ports } = await withExpired([...times(10, 1), ...times(10, 4), ...times(80, 5)], SHARD)
    const controller = new AbortController()
    let begun = 0
    whenDeleted(ports, async (_, deleteSignal) => {
      if (++begun === 30) controller.abort()
      deleteSignal.throwIfAborted()
      await turns(1)
    })
    const { oldestMs, ...report } = await resolve('expiry', ports, { signal: controller.signal })
    expect(report).toMatchObject({ failed: 0, unlisted: 0 })
    expect([report.resolved > 0, report.resolved < 30]).toEqual([true, true])
    expect(ports.logged).toEqual([])
    const left = ports.stored.documents().map(({ expiresAt }) => expiresAt?.getTime() ?? 0)
    expect(oldestMs).toBe(ports.clock.nowMs - Math.min(...left))
    vi.restoreAllMocks()
    expect(await resolve('expiry', ports)).toMatchObject({ resolved: 100 - report.resolved, oldestMs: 0 })
  })

  it('says so when due work cannot be listed, does what it had listed, and that of the other shards', async () => {
    const { ports } = await withExpired([1], SHARD)
    await addExpired(ports, [2], SHARD + 1)
    const error = new Error('the index is being built')
    const list = ports.deps.dueWork.listDue
    vi.spyOn(ports.deps.dueWork, 'listDue').mockImplementation(async function* (due, listSignal) {
      yield* list(due, listSignal)
      if (due.shard === SHARD) throw error
    })
    expect(await resolve('expiry', ports)).toEqual({ ...done(2), unlisted: 1 })
    const message = 'due work not listed, left to a later run'
    expect(ports.logged).toContainEqual({ level: 'error', message, kind: 'expiry', shard: SHARD, error })
    expect(ports.state(nth(2))).toEqual(NOTHING)
  })
})
