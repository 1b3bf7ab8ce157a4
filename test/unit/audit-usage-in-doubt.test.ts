import { describe, expect, it, vi } from 'vitest'
import { endUsage } from '../../lib/maintenance/audit-usage.ts'
import { deleteDocument } from '../../lib/promotion/delete-document.ts'
import { undo } from '../../lib/promotion/end-attempt.ts'
import { addUp, begin, passBy, readRows } from '../support/add-up.ts'
import { createPorts, type Ports, WORKSPACE } from '../support/ports.ts'

const { signal } = new AbortController()
const HOUR_MS = 3_600_000

describe('a workspace that does not add up', () => {
  it('gives up, and says so, where that never ends', async () => {
    const ports = createPorts()
    const { list } = ports.reservations
    vi.spyOn(ports.reservations, 'list').mockImplementation(async function* (...args) {
      const one = await ports.run(['take', 'open', 'unmark'])
      await undo(one, { mayCopyArrive: false }, ports.deps, signal)
      yield* list(...args)
    })
    expect(await addUp(ports)).toEqual({ outcome: 'not_added_up', reason: 'restless' })
  })

  it('reports no drift for a document recorded without its first counted version', async () => {
    const ports = createPorts()
    const one = ports.begin()
    await ports.run(['take'], one)
    delete one.countedFrom
    await ports.run(['open', 'unmark', 'copy', 'record', 'settle'], one)
    expect((await addUp(ports)).outcome).toBe('agrees')
    expect((await addUp(ports, () => passBy(ports))).outcome).toBe('agrees')
  })

  it('does not trust tombstones that are nearly a day old', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const state = await begin(ports)
    await passBy(ports)
    ports.pass(20 * HOUR_MS + 1)
    const result = await endUsage(await readRows(ports, state), ports.deps, signal)
    expect(result).toEqual({ outcome: 'not_added_up', reason: 'too_slow' })
  })

  it('sees by a deletion, too, that the ledger was brought back from a backup', async () => {
    const ports = createPorts()
    const { documentId } = await ports.addDocument()
    const { version = 0, remainingBytes = 0 } = ports.ledger.workspaces.get(WORKSPACE) ?? {}
    await deleteDocument({ workspaceId: WORKSPACE, documentId }, ports.deps, signal)
    const result = await addUp(ports, async () => {
      Object.assign(ports.ledger.workspaces.get(WORKSPACE) ?? {}, { version, remainingBytes })
    })
    expect(result).toMatchObject({ outcome: 'not_added_up', reason: 'ledger_replaced' })
  })

  it.each([
    ['came', async ({ ledger }: Ports) => void ledger.workspaces.delete(WORKSPACE), passBy],
    ['went', async () => {}, async ({ ledger }: Ports) => void ledger.workspaces.delete(WORKSPACE)],
    [
      'was brought back from a backup',
      async () => {},
      async ({ ledger }: Ports) => {
        const workspace = ledger.workspaces.get(WORKSPACE)
        if (workspace) workspace.version -= 3
      },
    ],
  ])('does not compare with a ledger that %s meanwhile', async (_, before, meanwhile) => {
    const ports = createPorts()
    await ports.addDocument()
    await ports.addDocument()
    await before(ports)
    const result = await addUp(ports, () => meanwhile(ports))
    expect(result).toMatchObject({ outcome: 'not_added_up', reason: 'ledger_replaced' })
  })

  it('compares with a ledger from a backup when nothing goes on', async () => {
    const ports = createPorts()
    await ports.addDocument()
    await ports.addDocument()
    const workspace = ports.ledger.workspaces.get(WORKSPACE)
    Object.assign(workspace ?? {}, { version: 1, remainingBytes: 900 })
    const result = await addUp(ports)
    expect(result).toMatchObject({ outcome: 'drift', usedBytes: 100, expectedBytes: 200 })
    if (result.outcome === 'drift') expect(await result.correct()).toBe(true)
    expect((await addUp(ports)).outcome).toBe('agrees')
  })
})
