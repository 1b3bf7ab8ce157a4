import { expect, it } from 'vitest'
import { type AuditRound, performAuditTask } from '../../lib/maintenance/audit-round.ts'
import type { AuditShard } from '../../lib/maintenance/audit-shard.ts'
import { auditSlice } from '../../lib/maintenance/audit-slice.ts'
import type { Finding } from '../../lib/maintenance/findings.ts'
import { planted, roundDependencies, workspace } from '../support/maintenance/audit-rounds.ts'

const { signal } = new AbortController()

it('a workspace whose first look failed is counted once, by the slice that begins it again', async () => {
  const { ports } = await planted(3)
  const deps = roundDependencies(ports, 1)
  const findings: Finding[] = []
  const options = {
    repair: false,
    deleteLostDocuments: false,
    isOver: () => false,
    onFinding: (finding: Finding) => void findings.push(finding),
  }
  const startedAt = new Date(deps.now()).toISOString()
  const begin = { task: 'begin', roundId: 'one', startedAt, running: [] } as const
  const { shards } = (await performAuditTask(begin, options, deps, signal)) as AuditRound
  let failures = 1
  const ledgers: typeof deps.ledgers = {
    ...deps.ledgers,
    read: async (workspaceId, ...others) => {
      if (workspaceId === workspace(1) && failures-- > 0) throw new Error('read failed')
      return deps.ledgers.read(workspaceId, ...others)
    },
  }
  const first = await auditSlice(shards[0] as AuditShard, options, { ...deps, ledgers }, signal)
  expect(first).toMatchObject({ isComplete: false, counters: { workspaces: 1 } })
  const whole = await auditSlice(shards[0] as AuditShard, options, deps, signal)
  const second = await auditSlice(first, options, { ...deps, ledgers }, signal)
  expect(second.counters).toEqual(whole.counters)
})
