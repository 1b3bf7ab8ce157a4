import { describe, expect, it, vi } from 'vitest'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { createPorts, LEASE_MS, NOTHING, ONE_DOCUMENT, WORKSPACE } from '../../support/ports.ts'
import { dueAt, resolve } from '../../support/unit/resolving.ts'

describe('resolveWorkspace, within bounds', () => {
  it('resolves no more than it is told, markers first, and reports the oldest', async () => {
    const ports = createPorts()
    await ports.run(['take', 'reserve', 'unmark'])
    ports.pass(30_000)
    await ports.run(['take'])
    await ports.run(['take'])
    ports.pass()
    expect(await resolve(ports, { maxResolutions: 1 })).toMatchObject({ gaveBack: 1, isComplete: false, oldestMs: 0 })
    expect(ports.state()).toMatchObject({ used: 200, markers: 1, reservations: 2 })
    ports.pass(1000)
    const rest = { gaveBack: 2, isComplete: true, oldestMs: 31_000 }
    expect(await resolve(ports, { maxResolutions: 2 })).toMatchObject(rest)
    await ports.resolveAll()
    expect(ports.state()).toEqual(NOTHING)
  })

  it('gives up on what hangs, and goes on with the rest', async () => {
    const ports = createPorts()
    const hanging = await ports.run(['take', 'reserve', 'copy'])
    await ports.run(['take', 'reserve', 'copy'])
    ports.pass()
    const discard = ports.objects.discard.bind(ports.objects)
    vi.spyOn(ports.objects, 'discard').mockImplementation((objectKey, discardSignal) =>
      objectKey === hanging.objectKey
        ? new Promise((_, reject) => discardSignal.addEventListener('abort', () => reject(discardSignal.reason)))
        : discard(objectKey, discardSignal),
    )
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      expect(ms).toBe(10_000)
      const controller = new AbortController()
      setImmediate(() => controller.abort())
      return controller.signal
    })
    expect(await resolve(ports, { timeoutEachMs: 10_000 })).toMatchObject({ gaveBack: 1, failed: 1 })
    timeout.mockRestore()
    expect(ports.state()).toMatchObject({ used: 100, reservations: 1, objects: 1 })
    const left = { level: 'error', workspace_id: WORKSPACE, attempt_id: hanging.attemptId }
    expect(ports.logged).toContainEqual(expect.objectContaining(left))
  })

  it('fixed: passes an unreadable reservation by, and reports it', async () => {
    const ports = createPorts()
    const [bad] = [await ports.run(['take', 'reserve', 'unmark']), await ports.run(['take', 'reserve', 'unmark'])]
    ports.pass()
    const list = ports.reservations.list.bind(ports.reservations)
    vi.spyOn(ports.reservations, 'list').mockImplementation(async function* (workspaceId, listSignal, onUnreadable) {
      for await (const each of list(workspaceId, listSignal)) {
        if (each.attemptId === bad.attemptId) onUnreadable?.(new UnreadableItemError('it cannot be read'))
        else yield each
      }
    })
    expect(await resolve(ports)).toMatchObject({ gaveBack: 1, failed: 0, unreadable: 1 })
    expect(ports.state()).toMatchObject({ used: 100, reservations: 1 })
    expect([...ports.reservations.items.values()][0]?.attemptId).toBe(bad.attemptId)
  })
})

describe('resolveWorkspace tells when to look again', () => {
  it('at the end of the next lease', async () => {
    const ports = createPorts()
    await ports.run(['take'])
    const first = dueAt(ports) ?? 0
    ports.pass(1000)
    await ports.run(['take', 'reserve', 'unmark'])
    ports.pass(LEASE_MS - 1000)
    await resolve(ports)
    expect(dueAt(ports)).toBe(first + 1000)
  })

  it('never, when nothing is there', async () => {
    const ports = createPorts()
    await ports.addDocument()
    ports.pass()
    await resolve(ports)
    expect(dueAt(ports)).toBeUndefined()
  })

  it('at once, when something came while it looked', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const due = dueAt(ports)
    ports.pass()
    const { reschedule } = ports.ledger
    vi.spyOn(ports.ledger, 'reschedule').mockImplementationOnce(async (...args) => {
      await ports.run(['take', 'reserve', 'unmark'])
      return reschedule(...args)
    })
    await resolve(ports)
    expect(dueAt(ports)).toBe(due)
    ports.pass()
    await resolve(ports)
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('in a second, when something failed, or was left over because of the bound, whatever still runs', async () => {
    const ports = createPorts()
    await ports.run(['take'])
    await ports.run(['take'], ports.begin({ leaseExpiresAtMs: ports.clock.nowMs + 5 * LEASE_MS }))
    ports.pass()
    vi.spyOn(ports.ledger, 'giveBack').mockRejectedValueOnce(new Error('down'))
    expect(await resolve(ports)).toMatchObject({ gaveBack: 0, failed: 1, isComplete: true })
    expect(dueAt(ports)).toBe(ports.clock.nowMs + 1000)
    ports.pass(1000)
    expect(await resolve(ports, { maxResolutions: 0 })).toMatchObject({ gaveBack: 0, failed: 0, isComplete: false })
    expect(dueAt(ports)).toBe(ports.clock.nowMs + 1000)
    ports.pass(1000)
    expect(await resolve(ports)).toMatchObject({ gaveBack: 1, isComplete: true })
    await ports.resolveAll()
    expect(ports.state()).toEqual(NOTHING)
  })

  it('not at all, when it is looked at before it is due', async () => {
    const ports = createPorts()
    await ports.run(['take'])
    const due = dueAt(ports)
    ports.pass(1)
    await resolve(ports)
    expect(dueAt(ports)).toBe(due)
  })
})
