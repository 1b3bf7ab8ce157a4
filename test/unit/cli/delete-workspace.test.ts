import { describe, expect, it, vi } from 'vitest'
import { deleteWorkspaceFor } from '../../../infra/cli/commands/delete-workspace.ts'
import { afterNext, beforeNext } from '../../support/beside.ts'
import { createPorts, LEASE_MS, NOTHING, ONE_DOCUMENT, type Ports, type Step, WORKSPACE } from '../../support/ports.ts'

const { signal } = new AbortController()
/** Nothing that answers callers lives longer. */
const DEAD_AFTER_MS = 40_000
const RECORDED: readonly Step[] = ['begin', 'copy', 'hold', 'record']
const BUSY = { reason: 'workspace_busy', detail: expect.stringContaining('emptied but not deleted') }

/** `workspaces delete --empty`. */
function remove({ deps }: Ports) {
  const apiKeys = { list: async function* () {}, removeAll: async () => 0 }
  const output = { done() {}, progress() {} }
  const session = {
    output,
    target: { yes: true },
    place: 'a test',
    signal,
    stores: async () => ({ ...deps, apiKeys }),
  } as never
  return deleteWorkspaceFor(session, WORKSPACE, { empty: true, erase: false })
}

const leftIn = ({ stored }: Ports) => stored.items().map(({ state }) => state)

describe('workspaces delete, of what dead processes left', () => {
  it.each<{ steps: readonly Step[] }>([
    { steps: ['begin'] },
    { steps: ['begin', 'copy'] },
    { steps: ['begin', 'copy', 'hold'] },
  ])('fixed: ends once the process is certainly dead that died after $steps', async ({ steps }) => {
    const ports = createPorts()
    await ports.deps.workspaces.create(WORKSPACE, { quotaBytes: 1000 }, signal)
    await ports.run(steps)
    const before = ports.state()
    ports.pass(DEAD_AFTER_MS - 1)
    await expect(remove(ports)).rejects.toMatchObject(BUSY)
    expect(ports.state()).toEqual(before)
    ports.pass(1)
    await remove(ports)
    expect([ports.stored.ledgers(), leftIn(ports), [...ports.objects.documents]]).toEqual([[], ['stray'], []])
    await ports.resolveAll()
    expect([ports.state(), leftIn(ports)]).toEqual([NOTHING, []])
  })

  it.each<{ steps: readonly Step[]; left: string[] }>([
    { steps: ['hold'], left: [] },
    { steps: ['begin', 'copy', 'hold', 'stray'], left: ['stray'] },
    { steps: ['stray', 'copy', 'hold'], left: ['stray'] },
    { steps: RECORDED, left: ['gone'] },
    { steps: [...RECORDED, 'delete'], left: ['gone'] },
    { steps: [...RECORDED, 'delete', 'beginRefund'], left: ['gone'] },
    { steps: [...RECORDED, 'beginRefund'], left: ['gone'] },
  ])('ends at once after $steps', async ({ steps, left }) => {
    const ports = createPorts()
    await ports.run(steps)
    await remove(ports)
    expect([ports.stored.ledgers(), leftIn(ports), [...ports.objects.documents]]).toEqual([[], left, []])
  })

  it('ends a deletion that has begun, and can be repeated', async () => {
    const ports = createPorts()
    await ports.run([...RECORDED, 'delete'])
    await ports.run(['stray', 'hold'])
    for (let times = 0; times < 2; times++) await remove(ports)
    expect([ports.stored.ledgers(), leftIn(ports).toSorted()]).toEqual([[], ['gone', 'stray']])
  })
})

describe('workspaces delete, beside others', () => {
  it('keeps a workspace in which a document of no bytes was recorded meanwhile: nothing counts it', async () => {
    const ports = createPorts()
    await ports.deps.workspaces.create(WORKSPACE, { quotaBytes: 1000 }, signal)
    afterNext(ports.ledger, 'read', () => ports.run(['begin', 'record'], ports.begin({ sizeBytes: 0 })))
    const removing = vi.spyOn(ports.deps.workspaces, 'remove')
    await expect(remove(ports)).rejects.toMatchObject(BUSY)
    expect(removing).not.toHaveBeenCalled()
    expect(ports.state()).toMatchObject({ documents: 1 })
  })

  it.each(['delete', 'beginRefund', 'nameRefund', 'payRefund', 'bury'] as const)(
    "fixed: a caller's deletion that stalled before its %s changes nothing any more, wherever the workspace ended",
    async (step) => {
      const ports = createPorts()
      const document = await ports.addDocument()
      const port: object = step in ports.ledger ? ports.ledger : ports.documents
      const stalled = beforeNext(port, step as never, () => remove(ports))
      await ports.deleteDocument(document).catch(() => {})
      expect(stalled).toHaveBeenCalled()
      expect([ports.stored.ledgers(), leftIn(ports)]).toEqual([[], ['gone']])
      ports.pass(LEASE_MS)
      await remove(ports)
      expect(leftIn(ports)).toEqual(['gone'])
    },
  )

  it('leaves other workspaces alone', async () => {
    const ports = createPorts()
    const other = 'ws_2' as typeof WORKSPACE
    await ports.addDocument()
    await ports.addDocument(ports.begin({ workspaceId: other }))
    await remove(ports)
    expect(ports.state(other)).toEqual(ONE_DOCUMENT)
  })
})
