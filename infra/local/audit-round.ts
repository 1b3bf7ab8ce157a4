import { randomUUID } from 'node:crypto'
import type { AuditRound, AuditTask } from '../../lib/audit/audit-round.ts'
import type { AuditShard } from '../../lib/audit/audit-shard.ts'

/** Plays a round of the audit, as infra/resources/audit-definition.yml has it, shard after shard. */
export async function playRound(invoke: (task: AuditTask) => Promise<unknown>): Promise<void> {
  const begin = { roundId: randomUUID(), startedAt: new Date().toISOString(), running: [] }
  const round = (await invoke({ task: 'begin', ...begin })) as AuditRound
  const shards: AuditShard[] = []
  for (let state of round.shards as AuditShard[]) {
    while (!state.isComplete) state = (await invoke({ task: 'slice', state })) as AuditShard
    shards.push(state)
  }
  await invoke({ task: 'end', round: { ...round, shards } })
}
