import { describe, expect, it, vi } from 'vitest'
import { resolveWorkspace } from '../../lib/promotion/resolve-workspace.ts'
import { UnreadableItemError } from '../../lib/unreadable-item.ts'
import { interruptedAt } from '../support/interrupted.ts'
import { boundsOf, dueAt, resolve } from '../support/maintenance/resolving.ts'
import { ALL_STEPS, createPorts, LEASE_MS, NOTHING, ONE_DOCUMENT, type Step, WORKSPACE } from '../support/ports.ts'
import { newRelease } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()

describe('resolveWorkspace, beside others', () => {
  it.each<[string, readonly Step[]]>([
    ['only took its bytes', ['take']],
    ['copied', ['take', 'open', 'copy']],
    ['recorded, while its marker stood', ['take', 'open', 'copy', 'record']],
    ['recorded', ALL_STEPS],
    ['claimed and copied', ['claim', 'take', 'copy']],
    ['was forestalled', ['take', 'copy', 'forestall']],
    ['noted a deletion', [...ALL_STEPS, 'settle', 'deletion']],
  ])('may be held up at any step while another look is taken, at what %s', async (_, steps) => {
    for (let at = 0; ; at++) {
      const ports = createPorts()
      await ports.run(steps)
      ports.pass()
      const { deps, calls } = interruptedAt(at, ports.deps, () => resolve(ports))
      await resolveWorkspace(WORKSPACE, boundsOf(ports), deps, signal)
      await ports.resolveAll()
      expect([at, ports.state()]).toEqual([at, steps.includes('record') ? ONE_DOCUMENT : NOTHING])
      if (calls() <= at) return
    }
  })

  it.each(['undo', 'deletion'] as const)('may be held up at any step of a dead %s as well', async (purpose) => {
    for (let at = 0; ; at++) {
      const ports = createPorts()
      const one = ports.begin()
      await ports.run(purpose === 'undo' ? ['take', 'open', 'unmark', 'copy'] : [...ALL_STEPS, 'settle'], one)
      if (purpose === 'undo') await ports.documents.fence(one, signal)
      else await ports.documents.retire(one, signal)
      await ports.objects.discard(one.objectKey, signal)
      await ports.ledger.mark(newRelease(one, purpose, { leaseExpiresAtMs: one.leaseExpiresAtMs }), signal)
      ports.pass()
      const { deps, calls } = interruptedAt(at, ports.deps, () => resolve(ports))
      await resolveWorkspace(WORKSPACE, boundsOf(ports), deps, signal)
      // Clears away what it marked itself after the other had taken the reservation back.
      ports.pass()
      await resolve(ports)
      expect([at, ports.state()]).toEqual([at, NOTHING])
      if (calls() <= at) return
    }
  })

  it('may run many times at once', async () => {
    const ports = createPorts()
    await ports.addDocument()
    for (const steps of [['take'], ['take', 'open', 'copy'], ['take', 'open', 'unmark']] as const)
      await ports.run(steps)
    ports.pass()
    await Promise.all([resolve(ports), resolve(ports), resolve(ports), resolve(ports)])
    await ports.resolveAll()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })
})

describe('resolveWorkspace, within bounds', () => {
  it('resolves no more than it is told, markers first, and reports the oldest', async () => {
    const ports = createPorts()
    await ports.run(['take', 'open', 'unmark'])
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
    const hanging = await ports.run(['take', 'open', 'copy'])
    await ports.run(['take', 'open', 'copy'])
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

  it('has nothing to do in a workspace that has no ledger', async () => {
    expect(await resolve(createPorts())).toMatchObject({ settled: 0, released: 0, failed: 0, isComplete: true })
  })

  it('fixed: passes an unreadable reservation by, reports it, and looks again', async () => {
    const ports = createPorts()
    const [bad, good] = [await ports.run(['take', 'open', 'unmark']), await ports.run(['take', 'open', 'unmark'])]
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
