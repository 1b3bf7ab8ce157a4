import type { TableShard } from '../ledger/ports/ledger-maintenance.ts'
import type { WorkspacePosition } from './audit-workspace.ts'
import { type AuditCounters, NOTHING_AUDITED } from './findings.ts'

/**
 * The phases of a shard, in order: workspaces with a ledger; those that only Documents knows; those that only have
 * objects.
 */
const AUDIT_PHASES = ['ledgers', 'documents', 'objects'] as const

/**
 * How far one shard of a round has come. It goes from slice to slice as JSON through the state machine, which takes 256 KB:
 * everything in it is small.
 */
export interface AuditShard extends TableShard {
  roundId: string
  /** When the round began. */
  startedAtMs: number
  /** Done up to `after`. */
  phase: (typeof AUDIT_PHASES)[number]
  /** The workspace after that, when a slice ended in the middle of it. */
  workspace?: WorkspacePosition
  /** After a failure: the most workspaces that the next slice takes. */
  maxWorkspaces?: number
  counters: AuditCounters
  isComplete: boolean
}

export function newShards(round: Pick<AuditShard, 'roundId' | 'startedAtMs' | 'totalShards'>): AuditShard[] {
  const begun = { ...round, phase: AUDIT_PHASES[0], counters: NOTHING_AUDITED, isComplete: false }
  return Array.from({ length: round.totalShards }, (_, shard) => ({ ...begun, shard }))
}

export function enterNextPhase({ after: _, ...shard }: AuditShard): AuditShard {
  const next = AUDIT_PHASES[AUDIT_PHASES.indexOf(shard.phase) + 1]
  return next === undefined ? { ...shard, isComplete: true } : { ...shard, phase: next }
}

export function sumOf(shards: readonly Partial<Pick<AuditShard, 'counters'>>[]): AuditCounters {
  const sum = { ...NOTHING_AUDITED }
  for (const { counters = NOTHING_AUDITED } of shards) {
    for (const name of Object.keys(sum) as (keyof AuditCounters)[]) sum[name] += counters[name]
  }
  return sum
}
