import { describe, expect, it, vi } from 'vitest'
import { type AuditShard, newShards } from '../../../lib/audit/audit-shard.ts'
import { auditSlice, skipWorkspace, withLongerSlices } from '../../../lib/audit/audit-slice.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
import { countMore, passBy } from '../../support/add-up.ts'
import { createPorts } from '../../support/ports.ts'
import { workspace } from '../../support/unit/audit-rounds.ts'

const { signal } = new AbortController()
const ROUND = { roundId: 'one', startedAtMs: 0, totalShards: 1, expectedWorkspaces: 2 }
const [BEGUN] = newShards(ROUND) as [AuditShard]
const OPTIONS = { repair: false, deleteLostDocuments: false, onFinding() {}, isTimeUp: () => false }

/** Two workspaces with two documents each. */
async function setUp() {
  const ports = createPorts()
  for (const n of [0, 0, 1, 1]) await ports.addDocument(ports.begin({ workspaceId: workspace(n), sizeBytes: 10 }))
  return ports
}

describe('a slice of the audit', () => {
  it('goes on amid changes where the one before stopped, reads each row once, and leaves its input as it was', async () => {
    const ports = await setUp()
    countMore(ports, 7, workspace(0))
    const { listItems } = ports.documents
    const begunAfter: (string | undefined)[] = []
    vi.spyOn(ports.documents, 'listItems').mockImplementation(async function* (...args) {
      await passBy(ports)
      if (args[0] === workspace(0)) begunAfter.push(args[2]?.after)
      yield* listItems(...args)
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
      expect(shard).toMatchObject({ workspace: { workspaceId: workspace(0) }, counters: { documents: 1 } })
      expect(shard).not.toHaveProperty('after')
    }
    const [first, second] = [...ports.documents.documents.values()].map(({ documentId }) => documentId).toSorted()
    expect(begunAfter).toEqual([undefined, first, second])
    expect(findings).toMatchObject([{ kind: 'drift', usedBytes: 27, expectedBytes: 20 }])
    expect(shard.counters).toMatchObject({ documents: 4, findings: 1, notAddedUp: 0 })
  })

  it('ends before what fails, and says why in the log; the next one, which begins that again, counts it once', async () => {
    const ports = await setUp()
    await ports.run(['take'], ports.begin({ workspaceId: workspace(1), leaseExpiresAtMs: 1 }))
    const error = new Error('down')
    const whole = await auditSlice(BEGUN, OPTIONS, ports.deps, signal)
    // The first listing is of what is overdue, which is then a finding.
    let listings = 0
    const { list } = ports.reservations
    vi.spyOn(ports.reservations, 'list').mockImplementation((workspaceId, ...rest) => {
      if (workspaceId === workspace(1) && ++listings === 2) throw error
      return list(workspaceId, ...rest)
    })
    const first = await auditSlice(BEGUN, OPTIONS, ports.deps, signal)
    expect(first).toMatchObject({ isComplete: false, counters: { workspaces: 1, findings: 0 } })
    const message = 'audit slice ended early, the next one continues'
    expect(ports.logged).toEqual([{ level: 'warn', message, shard: 0, error }])
    expect((await auditSlice(first, OPTIONS, ports.deps, signal)).counters).toEqual(whole.counters)
    expect(whole.counters).toMatchObject({ workspaces: 2, findings: 1 })
  })

  it('begins a workspace anew whose position has another format', async () => {
    const { deps } = await setUp()
    const half = await auditSlice(BEGUN, { ...OPTIONS, isTimeUp: () => true }, deps, signal)
    const old = { ...half, workspace: { workspaceId: workspace(0), format: 2, isReadable: true } as never }
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
  const { deps } = await setUp()
  const findings: Finding[] = []
  const options = { ...OPTIONS, onFinding: (finding: Finding) => void findings.push(finding) }
  const skip = (shard: AuditShard) => skipWorkspace(shard, 'killed', options, deps, signal)
  const half = await auditSlice(BEGUN, { ...OPTIONS, isTimeUp: () => true }, deps, signal)
  const first = await skip(half)
  expect(first).toMatchObject({ phase: 'ledgers', after: workspace(0), maxWorkspaces: 1, counters: { findings: 1 } })
  expect(first).not.toHaveProperty('workspace')
  const last = await skip(await skip(first))
  expect(last).toMatchObject({ phase: 'documents', counters: { workspaces: 0, findings: 2 } })
  const [one, other] = [0, 1].map((n) => ({ kind: 'not_audited', workspaceId: workspace(n), message: 'killed' }))
  expect(findings).toMatchObject([one, other])
})
