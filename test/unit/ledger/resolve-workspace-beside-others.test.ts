import { describe, expect, it, vi } from 'vitest'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { createPorts, LEASE_MS, NOTHING, WORKSPACE } from '../../support/ports.ts'
import { dueAt, resolve } from '../../support/unit/resolving.ts'

describe('resolveWorkspace, within bounds', () => {
  it('resolves no more than it is told, markers first, and reports the oldest', async () => {
    const ports = createPorts()
    await ports.run(['take', 'reserve', 'unmark'])
    ports.pass(30_000)
    await ports.run(['take'])
    await ports.run(['take'])
    ports.pass()
    expect(await resolve(ports, { maxResolutions: 1 })).toMatchObject({ released: 1, isComplete: false, oldestMs: 0 })
    expect(ports.state()).toMatchObject({ used: 200, markers: 1, reservations: 2 })
    ports.pass(1000)
    expect(await resolve(ports, { maxResolutions: 2 })).toMatchObject({
      released: 2,
      isComplete: true,
      oldestMs: 31_000,
    })
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
    expect(await resolve(ports, { timeoutEachMs: 10_000 })).toMatchObject({ released: 1, failed: 1 })
    timeout.mockRestore()
    expect(ports.state()).toMatchObject({ used: 100, reservations: 1, objects: 1 })
    expect(ports.logged).toContainEqual(
      expect.objectContaining({ level: 'error', workspace_id: WORKSPACE, attempt_id: hanging.attemptId }),
    )
  })

  it('fixed: passes an unreadable reservation by, reports it, and looks again', async () => {
    const ports = createPorts()
    const [bad, good] = [await ports.run(['take', 'reserve', 'unmark']), await ports.run(['take', 'reserve', 'unmark'])]
    ports.pass()
    const list = ports.reservations.list.bind(ports.reservations)
    vi.spyOn(ports.reservations, 'list').mockImplementation(async function* (workspaceId, listSignal, onUnreadable) {
      for await (const each of list(workspaceId, listSignal)) {
        if (each.attemptId === bad.attemptId) onUnreadable?.(new UnreadableItemError('it cannot be read'))
        else yield each
      }
    })
    expect(await resolve(ports)).toMatchObject({ released: 1, failed: 0, unreadable: 1 })
    expect(ports.state()).toMatchObject({ used: 100, reservations: 1 })
    expect([...ports.reservations.items.values()][0]?.attemptId).toBe(bad.attemptId)
    expect(good.attemptId).not.toBe(bad.attemptId)
    expect(ports.logged).toContainEqual(expect.objectContaining({ level: 'error', workspace_id: WORKSPACE }))
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ released: 0, unreadable: 1 })
    expect(dueAt(ports)).toBe(ports.clock.nowMs + LEASE_MS)
  })
})
