import { afterEach, describe, expect, it, vi } from 'vitest'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { createPorts, LEASE_MS, NOTHING, type Ports } from '../../support/ports.ts'
import { dieIn, IDLE, nth, resolve } from '../../support/unit/resolver-runs.ts'

afterEach(() => vi.restoreAllMocks())

/** The ledger of one workspace cannot be read. */
function spoil({ ledger }: Ports, spoilt: WorkspaceId) {
  const read = ledger.read.bind(ledger)
  return vi.spyOn(ledger, 'read').mockImplementation(async (workspaceId, readSignal) => {
    if (workspaceId === spoilt) throw new UnreadableItemError('a number beyond 2^53')
    return read(workspaceId, readSignal)
  })
}

describe('resolveDueWorkspaces, in trouble', () => {
  it('fixed: reports a workspace it cannot read, passes it by, and leaves it alone for a while', async () => {
    const ports = createPorts()
    for (const n of [1, 2, 3]) await dieIn(ports, n)
    ports.pass()
    const reading = spoil(ports, nth(1))
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 3, gaveBack: 2, unreadable: 1 })
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

  it('says in the log what it left to a later run', async () => {
    const ports = createPorts()
    await dieIn(ports, 1)
    ports.pass()
    const down = new Error('down')
    vi.spyOn(ports.ledger, 'read').mockRejectedValue(down)
    await resolve(ports)
    const left = { level: 'error', message: 'workspace not resolved, left to a later run' }
    expect(ports.logged).toContainEqual({ ...left, workspace_id: nth(1), error: down })
  })

  it('ends without a word when it is stopped, and what it had begun stays due', async () => {
    const ports = createPorts()
    await dieIn(ports, 1)
    ports.pass()
    const stopped = new AbortController()
    vi.spyOn(ports.ledger, 'read').mockImplementation(async () => {
      stopped.abort()
      throw new Error('aborted')
    })
    const report = await resolve(ports, undefined, stopped.signal)
    expect(report).toEqual({ ...IDLE, isComplete: false })
    expect(ports.logged).toEqual([])
    expect(ports.ledger.workspaces.get(nth(1))?.checkDueAtMs).toBeDefined()
  })

  describe('what fails again and again', () => {
    /** All takings back fail in one workspace. */
    const poison = (ports: Ports, workspaceId: WorkspaceId) => {
      const fence = ports.documents.fence.bind(ports.documents)
      vi.spyOn(ports.documents, 'fence').mockImplementation(async (attempt, fenceSignal) => {
        if (attempt.workspaceId === workspaceId) throw new Error('poisoned')
        return fence(attempt, fenceSignal)
      })
    }

    it('is retried ever later, up to ten minutes, and holds up no other', async () => {
      const ports = createPorts()
      await dieIn(ports, 1)
      poison(ports, nth(1))
      ports.pass()
      const runs: number[] = []
      for (let minute = 0; minute < 180; minute++) {
        await dieIn(ports, 2)
        const { failed } = await resolve(ports)
        if (failed > 0) runs.push(minute)
        ports.pass(60_000)
      }
      const gaps = runs.slice(1).map((minute, index) => minute - (runs[index] ?? 0))
      expect(gaps.slice(0, 4)).toEqual([1, 1, 1, 1])
      expect(gaps.toSorted((one, other) => one - other)).toEqual(gaps)
      expect(gaps.at(-1)).toBe(10)
      ports.pass()
      await resolve(ports)
      expect(ports.state(nth(2))).toEqual(NOTHING)
      expect(ports.state(nth(1))).toMatchObject({ used: 100 })
      vi.restoreAllMocks()
      ports.pass(10 * 60_000)
      expect(await resolve(ports)).toMatchObject({ failed: 0 })
      expect(ports.state(nth(1))).toEqual(NOTHING)
    })

    it('is passed by where it cannot even be put off', async () => {
      const ports = createPorts()
      for (const n of [1, 2, 3]) await dieIn(ports, n)
      ports.pass()
      spoil(ports, nth(1))
      const reschedule = ports.ledger.reschedule.bind(ports.ledger)
      vi.spyOn(ports.ledger, 'reschedule').mockImplementation(async (workspaceId, ...args) => {
        if (workspaceId === nth(1)) throw new Error('down')
        return reschedule(workspaceId, ...args)
      })
      expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 3, gaveBack: 2, unreadable: 1 })
      const left = { level: 'error', message: 'workspace not postponed', workspace_id: nth(1) }
      expect(ports.logged).toContainEqual(expect.objectContaining(left))
    })
  })
})

describe('two runs of the resolver at once', () => {
  it('leave a workspace to the one that keeps it until that is certainly over', async () => {
    const ports = createPorts()
    await dieIn(ports, 1)
    ports.pass()
    const endsAtMs = ports.clock.nowMs + 55_000
    const dying = vi.spyOn(ports.documents, 'fence').mockImplementation(() => new Promise(() => {}))
    const killed = resolve(ports, { maxResolutions: 100, endsAtMs })
    await vi.waitFor(() => expect(dying).toHaveBeenCalled())
    dying.mockRestore()
    ports.pass(54_999)
    expect(await resolve(ports)).toEqual(IDLE)
    ports.pass(1)
    expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 1, gaveBack: 1, oldestMs: 55_000 })
    expect(ports.state(nth(1))).toEqual(NOTHING)
    expect(await Promise.race([killed, 'never ends'])).toBe('never ends')
  })

  it('the next one resolves what ended while the one before was at work', async () => {
    const ports = createPorts()
    await dieIn(ports, 1)
    ports.pass(50)
    await dieIn(ports, 1)
    ports.pass(LEASE_MS - 50)
    const fence = ports.documents.fence.bind(ports.documents)
    vi.spyOn(ports.documents, 'fence').mockImplementation(async (...args) => {
      ports.pass(100)
      return fence(...args)
    })
    expect(await resolve(ports)).toMatchObject({ gaveBack: 1 })
    ports.pass(60_000)
    expect(await resolve(ports)).toMatchObject({ gaveBack: 1 })
    expect(ports.state(nth(1))).toEqual(NOTHING)
  })
})
