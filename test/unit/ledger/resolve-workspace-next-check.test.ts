import { describe, expect, it, vi } from 'vitest'
import { resolveWorkspace } from '../../../lib/ledger/resolve-workspace.ts'
import { interruptedAt } from '../../support/interrupted.ts'
import { createPorts, LEASE_MS, NOTHING, ONE_DOCUMENT, WORKSPACE } from '../../support/ports.ts'
import { boundsOf, dueAt, resolve } from '../../support/unit/resolving.ts'

const { signal } = new AbortController()

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
    const { deps } = interruptedAt(2, ports.deps, () => ports.run(['take', 'reserve', 'unmark']))
    await resolveWorkspace(WORKSPACE, boundsOf(ports), deps, signal)
    expect(dueAt(ports)).toBe(due)
    ports.pass()
    await resolve(ports)
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('in a second, when something failed, or was left over because of the bound', async () => {
    const ports = createPorts()
    await ports.run(['take'])
    ports.pass()
    vi.spyOn(ports.ledger, 'release').mockRejectedValueOnce(new Error('down'))
    expect(await resolve(ports)).toMatchObject({ released: 0, failed: 1, isComplete: true })
    expect(dueAt(ports)).toBe(ports.clock.nowMs + 1000)
    ports.pass(1000)
    expect(await resolve(ports, { maxResolutions: 0 })).toMatchObject({ released: 0, failed: 0, isComplete: false })
    expect(dueAt(ports)).toBe(ports.clock.nowMs + 1000)
    ports.pass(1000)
    expect(await resolve(ports)).toMatchObject({ released: 1, isComplete: true })
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
