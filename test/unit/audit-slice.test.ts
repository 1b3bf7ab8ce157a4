import { describe, expect, it, vi } from 'vitest'
import { audit } from '../../lib/maintenance/audit.ts'
import { growSlices, newShard } from '../../lib/maintenance/audit-shard.ts'
import { auditSlice } from '../../lib/maintenance/audit-slice.ts'
import { planted, roundDependencies, workspace } from '../support/maintenance/audit-rounds.ts'
import { createPorts } from '../support/ports.ts'

const { signal } = new AbortController()
const ROUND = { roundId: 'one', startedAtMs: 0, shard: 0, totalShards: 1, expectedWorkspaces: 2 }
const OPTIONS = { repair: false, deleteLostDocuments: false, onFinding() {}, isOver: () => false }

async function twoWorkspaces() {
  const ports = createPorts()
  for (const n of [0, 1])
    for (let i = 0; i < 2; i++) await ports.addDocument(ports.begin({ workspaceId: workspace(n), sizeBytes: 10 }))
  return ports
}

describe('an audit that is stopped', () => {
  it('reports what it did until then', async () => {
    const ports = await twoWorkspaces()
    const stopped = new AbortController()
    const { read } = ports.ledger
    vi.spyOn(ports.ledger, 'read').mockImplementation(async (workspaceId, readSignal) => {
      readSignal.throwIfAborted()
      return read(workspaceId, readSignal)
    })
    const onWorkspace = () => stopped.abort()
    expect(await audit({ ...OPTIONS, onWorkspace }, ports.deps, stopped.signal)).toEqual({
      workspaces: 1,
      documents: 2,
      documentBytes: 20,
      findings: 0,
      repaired: 0,
      notAddedUp: 0,
      isComplete: false,
    })
  })

  it('fails when it was not stopped by the one who asked for it', async () => {
    const ports = await twoWorkspaces()
    vi.spyOn(ports.ledger, 'read').mockRejectedValue(new Error('down'))
    await expect(audit(OPTIONS, ports.deps, signal)).rejects.toThrow('down')
  })
})

describe('a slice of the audit', () => {
  it('does not count a workspace whose first look failed; the next one, which begins it again, does', async () => {
    const { ports } = await planted(3)
    const deps = roundDependencies(ports, 1)
    let failures = 1
    const ledgers: typeof deps.ledgers = {
      ...deps.ledgers,
      read: async (workspaceId, ...others) => {
        if (workspaceId === workspace(1) && failures-- > 0) throw new Error('read failed')
        return deps.ledgers.read(workspaceId, ...others)
      },
    }
    const first = await auditSlice(newShard(ROUND), OPTIONS, { ...deps, ledgers }, signal)
    expect(first).toMatchObject({ isComplete: false, counters: { workspaces: 1 } })
    const whole = await auditSlice(newShard(ROUND), OPTIONS, deps, signal)
    const second = await auditSlice(first, OPTIONS, { ...deps, ledgers }, signal)
    expect(second.counters).toEqual(whole.counters)
  })

  it('ends in the middle of a workspace, and the next one goes on there, and with all that follow', async () => {
    const ports = await twoWorkspaces()
    const deps = roundDependencies(ports, 1)
    let isOver = true
    const once = () => {
      const answer = isOver
      isOver = false
      return answer
    }
    const first = await auditSlice(newShard(ROUND), { ...OPTIONS, isOver: once }, deps, signal)
    expect(first).toMatchObject({ isComplete: false, workspace: { workspaceId: workspace(0) } })
    expect(first.counters).toMatchObject({ workspaces: 0, documents: 1 })
    expect(first).not.toHaveProperty('after')
    const second = await auditSlice(first, OPTIONS, deps, signal)
    expect(second).toMatchObject({ isComplete: true, counters: { workspaces: 2, documents: 4 } })
  })

  it('says in the log why it ended early', async () => {
    const ports = await twoWorkspaces()
    const { read } = ports.ledger
    const error = new Error('down')
    vi.spyOn(ports.ledger, 'read').mockImplementation(async (workspaceId, readSignal) => {
      if (workspaceId === workspace(1)) throw error
      return read(workspaceId, readSignal)
    })
    await auditSlice(newShard(ROUND), OPTIONS, roundDependencies(ports, 1), signal)
    expect(ports.logged).toEqual([
      { level: 'warn', message: 'audit slice ended early, the next one continues', shard: 0, error },
    ])
  })

  it.each([
    [1, 2],
    [499, 998],
    [500, undefined],
    [undefined, undefined],
  ])('may take twice as many workspaces after one that took %s: %s', (before, after) => {
    const shard = { ...newShard(ROUND), ...(before !== undefined && { maxWorkspaces: before }) }
    growSlices(shard)
    expect(shard.maxWorkspaces).toBe(after)
  })
})
