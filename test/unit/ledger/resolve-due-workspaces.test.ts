import { afterEach, describe, expect, it, vi } from 'vitest'
import { createPorts, LATE_COPY_MS, LEASE_MS, NOTHING, ONE_DOCUMENT } from '../../support/ports.ts'
import { BOUNDS, dieIn, IDLE, nth, resolve } from '../../support/unit/resolver-runs.ts'

afterEach(() => vi.restoreAllMocks())

describe('resolveDueWorkspaces', () => {
  it('resolves what dead processes left, in every workspace that is due', async () => {
    const ports = createPorts()
    await ports.addDocument(ports.begin({ workspaceId: nth(1) }))
    for (const n of [1, 2, 3]) await dieIn(ports, n)
    ports.pass(LEASE_MS - 1)
    expect(await resolve(ports)).toEqual(IDLE)
    ports.pass(1)
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 3, gaveBack: 3 })
    expect(ports.state(nth(1))).toEqual(ONE_DOCUMENT)
    for (const n of [2, 3]) expect(ports.state(nth(n))).toEqual(NOTHING)
  })

  it('comes back for what it left itself, and then no more', async () => {
    const ports = createPorts()
    await dieIn(ports, 1)
    ports.pass()
    await resolve(ports)
    expect(await resolve(ports)).toEqual(IDLE)
    ports.pass(LATE_COPY_MS)
    // The watch for a late copy.
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 1, ended: 1 })
    ports.pass()
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 1 })
    ports.pass(10 * LATE_COPY_MS)
    expect(await resolve(ports)).toEqual(IDLE)
  })

  it('resolves many workspaces, some at once', async () => {
    const ports = createPorts()
    for (let n = 0; n < 200; n++) await dieIn(ports, n)
    ports.pass()
    let atOnce = 0
    let most = 0
    const read = ports.ledger.read.bind(ports.ledger)
    vi.spyOn(ports.ledger, 'read').mockImplementation(async (...args) => {
      most = Math.max(most, ++atOnce)
      await new Promise((done) => setImmediate(done))
      atOnce--
      return read(...args)
    })
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 200, gaveBack: 200 })
    expect([most > 16, most <= 64]).toEqual([true, true])
  })

  it('looks at the shards it is given only', async () => {
    const ports = createPorts()
    // The fake has them in shards by the length of their ids.
    for (const n of [1, 10, 2]) await dieIn(ports, n)
    ports.pass()
    expect(await resolve(ports, { ...BOUNDS, shards: [1] })).toEqual({ ...IDLE, workspaces: 1, gaveBack: 1 })
    expect(ports.state(nth(10))).toEqual(NOTHING)
    expect(await resolve(ports, { ...BOUNDS, shards: [0] })).toEqual({ ...IDLE, workspaces: 2, gaveBack: 2 })
  })

  it('stops at its bound in a workspace and says so', async () => {
    const ports = createPorts()
    for (let attempts = 0; attempts < 9; attempts++) await dieIn(ports, 1)
    await dieIn(ports, 2)
    ports.pass()
    const bounded = { ...IDLE, workspaces: 2, gaveBack: 6, isComplete: false }
    expect(await resolve(ports, { ...BOUNDS, maxResolutions: 5 })).toEqual(bounded)
    ports.pass(1000)
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 1, gaveBack: 4, oldestMs: 1000 })
    expect(ports.state(nth(1))).toEqual(NOTHING)
  })

  it('ends when its time is over, with the rest untouched: what has waited longest is done first', async () => {
    const ports = createPorts()
    for (let n = 100; n < 300; n++) {
      await dieIn(ports, n)
      ports.pass(1)
    }
    ports.pass()
    const controller = new AbortController()
    let leases = 0
    const lease = ports.ledger.lease.bind(ports.ledger)
    vi.spyOn(ports.ledger, 'lease').mockImplementation(async (...args) => {
      if (++leases === 150) controller.abort()
      return lease(...args)
    })
    const first = await resolve(ports, BOUNDS, controller.signal)
    expect(first.isComplete).toBe(false)
    const untouched = Array.from({ length: 200 }, (_, index) => nth(100 + index)).filter(
      (workspaceId) => ports.state(workspaceId).used > 0,
    )
    expect(untouched.length).toBeGreaterThan(30)
    expect(untouched).toContain(nth(299))
    expect(untouched).not.toContain(nth(100))
    vi.restoreAllMocks()
    ports.pass(60_000)
    const second = await resolve(ports)
    expect(second).toMatchObject({ isComplete: true, gaveBack: untouched.length })
    for (const workspaceId of untouched) expect(ports.state(workspaceId)).toEqual(NOTHING)
  })

  it('says so when workspaces cannot be listed, and does those of the other shards', async () => {
    const ports = createPorts()
    for (const n of [1, 10]) await dieIn(ports, n)
    ports.pass()
    const error = new Error('down')
    const listDue = ports.ledger.listDue.bind(ports.ledger)
    vi.spyOn(ports.ledger, 'listDue').mockImplementation((due, listSignal) => {
      if (due.shard === 0) throw error
      return listDue(due, listSignal)
    })
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 1, gaveBack: 1, unlisted: 1, isComplete: false })
    const message = 'due workspaces not listed, left to a later run'
    expect(ports.logged).toContainEqual({ level: 'error', message, shard: 0, error })
    expect(ports.state(nth(10))).toEqual(NOTHING)
  })

  it('is late after more than a minute and a half, not before', async () => {
    for (const [lateMs, late] of [
      [90_000, 0],
      [90_001, 1],
    ] as const) {
      const ports = createPorts()
      await dieIn(ports, 1)
      ports.pass(LEASE_MS + lateMs)
      expect(await resolve(ports)).toMatchObject({ late, longestWaitMs: lateMs })
    }
  })

  it('passes by what the index still names and is not due any more', async () => {
    const ports = createPorts()
    await dieIn(ports, 1)
    ports.pass()
    await resolve(ports)
    const list = vi.spyOn(ports.reservations, 'list')
    vi.spyOn(ports.ledger, 'listDue').mockImplementation(async function* ({ shard }) {
      if (shard === 0) yield [{ workspaceId: nth(1), checkDueAtMs: ports.clock.nowMs - 1 }]
    })
    expect(await resolve(ports)).toEqual({ ...IDLE, leftToOthers: 1 })
    expect(list).not.toHaveBeenCalled()
  })
})
