import { expect, it, vi } from 'vitest'
import { eraseWorkspace } from '../../../lib/administration/erase-workspace.ts'
import type { ErasedObjects } from '../../../lib/administration/ports/erasures.ts'
import type { BusEvent, EventBus } from '../../../lib/events/ports.ts'
import { createPorts, WORKSPACE } from '../../support/ports.ts'
import { newRefund, signal } from '../../support/stores/ledger-values.ts'

const MINUTE_MS = 60_000
/** Seven days and an hour. */
const LATE_MS = 608_400_000

/** A workspace with two documents, whose erasure is due now. */
async function prepare() {
  const ports = createPorts()
  const { deps } = ports
  await ports.addDocument()
  await ports.addDocument()
  await ports.closeWorkspace()
  const erase = vi.fn<ErasedObjects['erase']>(async () => ({ erased: 0, refused: 0 }))
  const removeAll = vi.fn(async (_: string, __: number) => {})
  const bus = { put: vi.fn<EventBus['put']>(async () => new Map()) }
  const own = { ...deps, erasedObjects: { erase }, apiKeys: { removeAll }, bus }
  const run = () => eraseWorkspace(WORKSPACE, own, signal)
  const runIn = (minutes: number) => {
    ports.pass(minutes * MINUTE_MS)
    return run()
  }
  const erasureNow = async () => (await deps.ledger.read(WORKSPACE, signal))?.erasure
  return { ...ports, run, runIn, bus, erase, removeAll, erasureNow }
}

it('removes keys, items, bytes and objects, looks again after twenty minutes, and is done when that finds nothing', async () => {
  const { clock, erase, removeAll, run, runIn, state } = await prepare()
  const beganAtMs = clock.nowMs
  const counted = { usedBytes: 200, documents: 2 }
  expect(await run()).toMatchObject({ state: 'verifying', ...counted, dueAtMs: beganAtMs + 20 * MINUTE_MS })
  expect(state()).toMatchObject({ used: 0, entries: 0, documents: 0 })
  expect(await run()).toBeUndefined()
  erase.mockResolvedValueOnce({ erased: 1, refused: 0 })
  expect(await runIn(20)).toMatchObject({ state: 'verifying', dueAtMs: beganAtMs + 40 * MINUTE_MS })
  const times = { endedAtMs: beganAtMs, verifiedAtMs: beganAtMs + 40 * MINUTE_MS }
  expect(await runIn(20)).toEqual({
    state: 'erased',
    requestedAtMs: beganAtMs,
    beginsAtMs: beganAtMs,
    ...counted,
    ...times,
    dueAtMs: beganAtMs + LATE_MS,
  })
  expect([removeAll.mock.calls.length, erase.mock.calls.length]).toEqual([3, 6])
  // Keys, too, that were made by a clock that is years ahead.
  for (const [, madeByMs] of removeAll.mock.calls) expect(madeByMs).toBeGreaterThan(2 * clock.nowMs)
  expect(await runIn(20)).toBeUndefined()
})

it('looks through it once more when the last forms for uploads have ended, and is then never due again', async () => {
  const { clock, erase, erasureNow, run } = await prepare()
  const beganAtMs = clock.nowMs
  for (let looks = 0; looks < 2; looks++, clock.nowMs += 20 * MINUTE_MS) await run()
  clock.nowMs = beganAtMs + LATE_MS - 1
  expect(await run()).toBeUndefined()
  clock.nowMs += 1
  const locked = { erased: 1, refused: 1, reason: 'AccessDenied' }
  erase.mockReset().mockResolvedValueOnce(locked).mockResolvedValue({ erased: 0, refused: 0 })
  const again = clock.nowMs + 60 * MINUTE_MS
  expect(await run()).toMatchObject({ state: 'erased', refused: 1, reason: 'AccessDenied', dueAtMs: again })
  clock.nowMs = again
  const { dueAtMs, ...erased } = { dueAtMs: undefined, ...(await run()) }
  expect([dueAtMs, erased.state]).toEqual([undefined, 'erased'])
  expect(await erasureNow()).toEqual(erased)
})

it('tells the bus before the write that says erased, and again if that fails; a bus that refuses keeps it from ending', async () => {
  const { bus, clock, erasureNow, run, runIn } = await prepare()
  await run()
  bus.put.mockImplementationOnce(
    async ([event]) => new Map([[event as BusEvent, { reason: 'denied', isForGood: true }]]),
  )
  await expect(runIn(20)).rejects.toThrow('the bus refuses the event workspace.erased: denied')
  bus.put.mockImplementationOnce(async () => {
    expect(await erasureNow()).toMatchObject({ state: 'verifying' })
    throw new Error('killed')
  })
  await expect(runIn(20)).rejects.toThrow('killed')
  expect(await runIn(20)).toMatchObject({ state: 'erased' })
  const occurredAt = new Date(clock.nowMs)
  const detail = { workspace_id: WORKSPACE, documents: 2, used_bytes: 200, occurred_at: occurredAt.toISOString() }
  const [event] = bus.put.mock.calls.at(-1)?.[0] ?? []
  expect(event).toEqual({ type: 'workspace.erased', detail: JSON.stringify(detail), occurredAt })
  clock.nowMs += LATE_MS
  await run()
  expect(bus.put).toHaveBeenCalledTimes(3)
})

it('looks once more when the second look has found the refund of a late deletion', async () => {
  const { begin, clock, ledger, run, runIn, state } = await prepare()
  await run()
  clock.nowMs += 20 * MINUTE_MS
  await ledger.beginRefund(newRefund(begin()), signal, 0)
  expect(state().entries).toBe(1)
  expect(await run()).toMatchObject({ state: 'verifying', dueAtMs: clock.nowMs + 20 * MINUTE_MS })
  expect(state().entries).toBe(0)
  expect(await runIn(20)).toMatchObject({ state: 'erased' })
})

it('never becomes erased while S3 refuses: it is tried each hour, and says how many, and why', async () => {
  const { clock, erase, runIn } = await prepare()
  const refusal = { refused: 3, reason: 'AccessDenied: locked' }
  for (const minutes of [0, 60, 60]) {
    erase.mockResolvedValueOnce({ erased: 0, ...refusal })
    const dueAtMs = clock.nowMs + (minutes + 60) * MINUTE_MS
    expect(await runIn(minutes)).toMatchObject({ state: 'erasing', ...refusal, dueAtMs })
  }
  expect(await runIn(60)).toMatchObject({ state: 'verifying' })
})

it('a bucket that lists nothing to us: of documents, it is tried each hour; of sandboxes, it is told', async () => {
  const { clock, erase, run, runIn } = await prepare()
  const denied = { erased: 0, refused: 0, isDenied: true as const, reason: 'AccessDenied' }
  erase.mockResolvedValueOnce(denied)
  const refused = { state: 'erasing', refused: 1, reason: 'AccessDenied', dueAtMs: clock.nowMs + 60 * MINUTE_MS }
  expect(await run()).toMatchObject(refused)
  erase.mockImplementation(async ({ bucket }) => (bucket === 'sandbox' ? denied : { erased: 0, refused: 0 }))
  await runIn(60)
  const erased = await runIn(20)
  expect(erased).toMatchObject({ state: 'erased', deniedSandbox: 'AccessDenied' })
  expect(erased).not.toHaveProperty('refused')
})

it('is gone on with by another run a quarter of an hour after one that died, and not before', async () => {
  const { erase, erasureNow, run, runIn } = await prepare()
  erase.mockRejectedValueOnce(new Error('killed'))
  await expect(run()).rejects.toThrow('killed')
  expect(await erasureNow()).toMatchObject({ state: 'erasing', usedBytes: 200, documents: 2 })
  expect(await run()).toBeUndefined()
  expect(await runIn(15)).toMatchObject({ state: 'verifying', usedBytes: 200, documents: 2 })
})

it('does nothing beside another run, before its time, and where none was asked for', async () => {
  const { clock, deps, erase, run } = await prepare()
  const both = await Promise.all([run(), run()])
  expect(both.filter((each) => each !== undefined)).toHaveLength(1)
  clock.nowMs += 1
  expect(await run()).toBeUndefined()
  expect(erase).toHaveBeenCalledTimes(2)
  const other = { ...deps, erasedObjects: { erase }, apiKeys: { removeAll: async () => {} } }
  expect(await eraseWorkspace('ws_none' as typeof WORKSPACE, other, signal)).toBeUndefined()
})
