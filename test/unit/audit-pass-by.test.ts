import { describe, expect, it } from 'vitest'
import { type AuditRound, type AuditTask, performAuditTask } from '../../lib/maintenance/audit-round.ts'
import type { AuditShard } from '../../lib/maintenance/audit-shard.ts'
import type { Finding } from '../../lib/maintenance/findings.ts'
import { endSliceAtOnce, roundDependencies } from '../support/maintenance/audit-rounds.ts'
import { createPorts } from '../support/ports.ts'

const { signal } = new AbortController()

describe('a slice that passes a workspace by', () => {
  it('goes on to the next phase when no workspace is left to be passed by', async () => {
    const deps = roundDependencies(createPorts(), 1)
    const findings: Finding[] = []
    const onFinding = (finding: Finding) => void findings.push(finding)
    const options = { repair: false, deleteLostDocuments: false, isOver: endSliceAtOnce, onFinding }
    const perform = (task: object) => performAuditTask(task as AuditTask, options, deps, signal)
    const startedAt = new Date(deps.now()).toISOString()
    const { shards } = (await perform({ task: 'begin', roundId: 'one', startedAt, running: [] })) as AuditRound
    const before = shards[0] as AuditShard
    const error = { Error: 'Sandbox.Timedout', Cause: 'killed' }
    const after = (await perform({ task: 'pass_by', state: { ...before, error } })) as AuditShard
    expect(after.phase).not.toBe(before.phase)
    expect(findings).toEqual([])
  })
})
