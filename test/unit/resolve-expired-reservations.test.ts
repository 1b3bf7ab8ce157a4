import { afterEach, describe, expect, it, vi } from 'vitest'
import { UnreadableItemError } from '../../lib/errors.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { type ResolverReport, resolveExpiredReservations } from '../../lib/maintenance/resolve-expired-reservations.ts'
import type { ResolverBounds } from '../../lib/promotion/resolve-workspace.ts'
import { createPorts, LEASE_MS, NOTHING, ONE_DOCUMENT, type Ports, type Step, WATCH_MS } from '../support/ports.ts'

const { signal } = new AbortController()
const BOUNDS = { maxResolutions: 100, timeoutEachMs: 1000 }
const IDLE: ResolverReport = {
  workspaces: 0,
  settled: 0,
  released: 0,
  failed: 0,
  unreadable: 0,
  oldestMs: 0,
  isComplete: true,
}
const COPIED: readonly Step[] = ['take', 'open', 'unmark', 'copy']
const nth = (n: number) => `ws_${n}` as WorkspaceId
const dieIn = (ports: Ports, n: number, steps: readonly Step[] = COPIED) =>
  ports.run(steps, ports.begin({ workspaceId: nth(n) }))
const resolve = ({ deps }: Ports, bounds: ResolverBounds = BOUNDS, runSignal = signal) =>
  resolveExpiredReservations(bounds, deps, runSignal)

afterEach(() => vi.restoreAllMocks())

describe('resolveExpiredReservations', () => {
  it('resolves what dead processes left, in every workspace that is due', async () => {
    const ports = createPorts()
    await ports.addDocument(ports.begin({ workspaceId: nth(1) }))
    for (const n of [1, 2, 3]) await dieIn(ports, n)
    ports.pass(LEASE_MS - 1)
    expect(await resolve(ports)).toEqual(IDLE)
    ports.pass(1)
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 3, released: 3 })
    expect(ports.state(nth(1))).toEqual(ONE_DOCUMENT)
    for (const n of [2, 3]) expect(ports.state(nth(n))).toEqual(NOTHING)
  })

  it('comes back for what it left itself, and then no more', async () => {
    const ports = createPorts()
    await dieIn(ports, 1)
    ports.pass()
    await resolve(ports)
    expect(await resolve(ports)).toEqual(IDLE)
    ports.pass(WATCH_MS)
    // The watch for a late copy.
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 1, settled: 1 })
    ports.pass()
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 1 })
    ports.pass(10 * WATCH_MS)
    expect(await resolve(ports)).toEqual(IDLE)
  })

  it('looks at no workspace in which nothing is due', async () => {
    const ports = createPorts()
    await ports.addDocument()
    ports.pass()
    await resolve(ports)
    const read = vi.spyOn(ports.ledger, 'read')
    expect(await resolve(ports)).toEqual(IDLE)
    expect(read).not.toHaveBeenCalled()
  })

  it('reports the oldest of all', async () => {
    const ports = createPorts()
    await dieIn(ports, 1)
    ports.pass(60_000)
    await dieIn(ports, 2)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ released: 2, oldestMs: 60_000 })
  })

  it('resolves many workspaces, some at once', async () => {
    const ports = createPorts()
    for (let n = 0; n < 50; n++) await dieIn(ports, n)
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
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 50, released: 50 })
    expect([most > 1, most <= 8]).toEqual([true, true])
  })

  it('lets a workspace that fails stop no other, and takes it up again', async () => {
    const ports = createPorts()
    const bad = await dieIn(ports, 1)
    await dieIn(ports, 2)
    ports.pass()
    const fence = ports.documents.fence.bind(ports.documents)
    const failing = vi.spyOn(ports.documents, 'fence').mockImplementation(async (attempt, fenceSignal) => {
      if (attempt.attemptId === bad.attemptId) throw new Error('bad workspace')
      return fence(attempt, fenceSignal)
    })
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 2, released: 1, failed: 1 })
    expect(ports.state(nth(2))).toEqual(NOTHING)
    expect(ports.logged).toContainEqual(
      expect.objectContaining({ level: 'error', workspace_id: nth(1), attempt_id: bad.attemptId }),
    )
    failing.mockRestore()
    ports.pass(1000)
    expect(await resolve(ports)).toMatchObject({ released: 1, failed: 0 })
    expect(ports.state(nth(1))).toEqual(NOTHING)
  })

  it('lets one whose ledger cannot be reached stop no other, and takes it up with the next run', async () => {
    const ports = createPorts()
    for (const n of [1, 2]) await dieIn(ports, n)
    ports.pass()
    const read = ports.ledger.read.bind(ports.ledger)
    const failing = vi.spyOn(ports.ledger, 'read').mockImplementation(async (workspaceId, readSignal) => {
      if (workspaceId === nth(1)) throw new Error('down')
      return read(workspaceId, readSignal)
    })
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 2, released: 1, failed: 1 })
    expect(ports.logged).toContainEqual(expect.objectContaining({ level: 'error', workspace_id: nth(1) }))
    failing.mockRestore()
    expect(await resolve(ports)).toMatchObject({ workspaces: 1, released: 1 })
  })

  it('fixed: reports a workspace it cannot read, passes it by, and leaves it alone for a while', async () => {
    const ports = createPorts()
    for (const n of [1, 2, 3]) await dieIn(ports, n)
    ports.pass()
    const read = ports.ledger.read.bind(ports.ledger)
    const reading = vi.spyOn(ports.ledger, 'read').mockImplementation(async (workspaceId, readSignal) => {
      if (workspaceId === nth(1)) throw new UnreadableItemError('a number beyond 2^53')
      return read(workspaceId, readSignal)
    })
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 3, released: 2, unreadable: 1 })
    for (const n of [2, 3]) expect(ports.state(nth(n))).toEqual(NOTHING)
    expect(ports.logged).toContainEqual(expect.objectContaining({ level: 'error', workspace_id: nth(1) }))
    ports.pass(10 * 60_000 - 1)
    expect(await resolve(ports)).toMatchObject({ unreadable: 0 })
    ports.pass(1)
    expect(await resolve(ports)).toMatchObject({ unreadable: 1 })
    reading.mockRestore()
    ports.pass(10 * 60_000)
    await resolve(ports)
    expect(ports.state(nth(1))).toEqual(NOTHING)
  })

  it('stops at its bound and says so', async () => {
    const ports = createPorts()
    for (let n = 0; n < 20; n++) await dieIn(ports, n)
    ports.pass()
    const first = await resolve(ports, { ...BOUNDS, maxResolutions: 5 })
    expect(first.isComplete).toBe(false)
    // Workspaces that are looked at together do not know of each other.
    expect(first.released).toBeLessThan(5 + 8)
    ports.pass(1000)
    const second = await resolve(ports)
    expect(second.isComplete).toBe(true)
    expect(first.released + second.released).toBe(20)
  })

  it('ends when its time is over, with what it has done', async () => {
    const ports = createPorts()
    for (let n = 0; n < 20; n++) await dieIn(ports, n)
    ports.pass()
    const controller = new AbortController()
    const listDue = ports.ledger.listDue.bind(ports.ledger)
    vi.spyOn(ports.ledger, 'listDue').mockImplementation(async function* (...args) {
      let count = 0
      for await (const due of listDue(...args)) {
        if (count++ === 10) {
          controller.abort()
          throw new Error('aborted')
        }
        yield due
      }
    })
    expect(await resolve(ports, BOUNDS, controller.signal)).toMatchObject({ released: 8, isComplete: false })
  })

  it('does not hide that the workspaces cannot be listed', async () => {
    const ports = createPorts()
    vi.spyOn(ports.ledger, 'listDue').mockImplementation(() => {
      throw new Error('down')
    })
    await expect(resolve(ports)).rejects.toThrow('down')
  })

  it('may run many times at once', async () => {
    const ports = createPorts()
    await ports.addDocument()
    for (const steps of [['take'], ['take', 'open', 'copy'], COPIED] as const) await dieIn(ports, 1, steps)
    ports.pass()
    await Promise.all([resolve(ports), resolve(ports), resolve(ports)])
    ports.pass()
    await resolve(ports)
    expect(ports.state(nth(1))).toEqual(ONE_DOCUMENT)
  })
})
