import { describe, expect, it, vi } from 'vitest'
import { type AuditShard, newShards } from '../../../lib/audit/audit-shard.ts'
import { auditSlice, skipWorkspace, withLongerSlices } from '../../../lib/audit/audit-slice.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
import { isOfEarlierPhase } from '../../../lib/audit/listed-workspaces.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { countMore, passBy } from '../../support/add-up.ts'
import { createPorts, signal } from '../../support/ports.ts'
import { workspace, workspacesOf } from '../../support/unit/audit-rounds.ts'

const ROUND = { roundId: 'one', startedAtMs: 0, totalShards: 1 }
const [BEGUN] = newShards(ROUND) as [AuditShard]
const OPTIONS = { repair: false, deleteLostDocuments: false, onFinding() {}, isTimeUp: () => false }

/** Two workspaces with two documents each. */
async function setUp() {
  const ports = createPorts()
  for (const n of [0, 0, 1, 1]) await ports.addDocument(ports.begin({ workspaceId: workspace(n), sizeBytes: 10 }))
  const [first, second] = (await workspacesOf(ports)) as [WorkspaceId, WorkspaceId]
  return { ports, first, second }
}

describe('a slice of the audit', () => {
  it('goes on amid changes where the one before stopped, reads each item once, and leaves its input as it was', async () => {
    const { ports, first } = await setUp()
    await countMore(ports, 7, first)
    const { list } = ports.documents
    const begunAfter: (string | undefined)[] = []
    vi.spyOn(ports.documents, 'list').mockImplementation(async function* (...args) {
      await passBy(ports)
      if (args[0] === first) begunAfter.push(args[2]?.after)
      yield* list(...args)
    })
    const findings: Finding[] = []
    const options = { ...OPTIONS, isTimeUp: () => true, onFinding: (finding: Finding) => void findings.push(finding) }
    let shard = BEGUN
    for (let slices = 1; !shard.isComplete; slices++) {
      const input = JSON.stringify(shard)
      const after = await auditSlice(shard, options, ports.deps, signal)
      expect([slices, JSON.stringify(shard)]).toEqual([slices, input])
      // As the engine passes it on.
      shard = JSON.parse(JSON.stringify(after))
      if (slices > 1) continue
      expect(shard).toMatchObject({ workspace: { workspaceId: first }, counters: { documents: 1 } })
      expect(shard).not.toHaveProperty('after')
    }
    const own = ports.stored.documents().filter(({ workspaceId }) => workspaceId === first)
    expect(begunAfter).toEqual([undefined, ...own.map(({ documentId }) => documentId)])
    expect(findings).toMatchObject([{ kind: 'drift', usedBytes: 27, expectedBytes: 20 }])
    expect(shard.counters).toMatchObject({ documents: 4, findings: 1, notAddedUp: 0 })
  })

  it('ends before what fails, and says why in the log; the next one, which begins that again, counts it once', async () => {
    const { ports, second } = await setUp()
    await ports.run(['hold'], ports.begin({ workspaceId: second, leaseEndsAtMs: 1 }))
    const error = new Error('down')
    const whole = await auditSlice(BEGUN, OPTIONS, ports.deps, signal)
    // The second reading is of what is overdue, which is then a finding.
    let readings = 0
    const { read } = ports.ledger
    vi.spyOn(ports.ledger, 'read').mockImplementation(async (workspaceId, ...rest) => {
      if (workspaceId === second && ++readings === 3) throw error
      return read(workspaceId, ...rest)
    })
    const first = await auditSlice(BEGUN, OPTIONS, ports.deps, signal)
    expect(first).toMatchObject({ isComplete: false, counters: { workspaces: 1, findings: 0 } })
    const message = 'audit slice ended early, the next one continues'
    expect(ports.logged).toEqual([{ level: 'warn', message, shard: 0, error }])
    expect((await auditSlice(first, OPTIONS, ports.deps, signal)).counters).toEqual(whole.counters)
    expect(whole.counters).toMatchObject({ workspaces: 2, findings: 1 })
  })

  it('begins a workspace anew whose position has another format', async () => {
    const { ports, first } = await setUp()
    const { deps } = ports
    const half = await auditSlice(BEGUN, { ...OPTIONS, isTimeUp: () => true }, deps, signal)
    const old = { ...half, workspace: { workspaceId: first, format: 2, isReadable: true } as never }
    const after = await auditSlice(old, OPTIONS, deps, signal)
    expect(after).toMatchObject({ isComplete: true, counters: { workspaces: 2, documents: 5, findings: 0 } })
  })

  it.each([
    [1, 2],
    [499, 998],
    [500, undefined],
    [undefined, undefined],
  ])('may take twice as many workspaces after one that took %s: %s', (before, after) => {
    const shard = { ...BEGUN, ...(before !== undefined && { maxWorkspaces: before }) }
    expect(withLongerSlices(shard).maxWorkspaces).toBe(after)
  })
})

it('a shard that skips a workspace reports it, and goes on to the next phase when none is left', async () => {
  const { ports, first, second } = await setUp()
  const findings: Finding[] = []
  const options = { ...OPTIONS, onFinding: (finding: Finding) => void findings.push(finding) }
  const skip = (shard: AuditShard) => skipWorkspace(shard, 'killed', options, ports.deps, signal)
  const half = await auditSlice(BEGUN, { ...OPTIONS, isTimeUp: () => true }, ports.deps, signal)
  const one = await skip(half)
  expect(one).toMatchObject({ phase: 'ledgers', after: first, maxWorkspaces: 1, counters: { findings: 1 } })
  expect(one).not.toHaveProperty('workspace')
  const last = await skip(await skip(one))
  expect(last).toMatchObject({ phase: 'documents', counters: { workspaces: 0, findings: 2 } })
  const found = [first, second].map((workspaceId) => ({ kind: 'not_audited', workspaceId, message: 'killed' }))
  expect(findings).toMatchObject(found)
})

it('a workspace is left to another phase where it has a ledger, readable or not; any other failure is told', async () => {
  const { ports, first } = await setUp()
  const isAudited = () => isOfEarlierPhase(first, { ...BEGUN, phase: 'documents' }, { deps: ports.deps, signal })
  const read = vi.spyOn(ports.ledger, 'read').mockRejectedValue(new UnreadableItemError('a number beyond 2^53'))
  expect(await isAudited()).toBe(true)
  read.mockRejectedValue(new Error('down'))
  await expect(isAudited()).rejects.toThrow('down')
})
