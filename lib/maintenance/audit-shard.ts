import type { WorkspacePosition } from './audit-workspace.ts'
import { type AuditCounters, NOTHING_AUDITED } from './findings.ts'

/**
 * The phases of a shard, in order: workspaces with a ledger; those that only the other tables know; those that only
 * have objects; then all unfinished uploads.
 */
export const AUDIT_PHASES = ['ledgers', 'documents', 'reservations', 'objects', 'uploads'] as const
export type AuditPhase = (typeof AUDIT_PHASES)[number]

/**
 * How far one shard of a round has come. It goes from slice to slice as JSON through the engine, which takes 256 KB.
 * Everything in it is small, except what adding up a busy workspace carries (audit-usage.ts, below 100 KB).
 */
export interface AuditShard {
  roundId: string
  /** When the round began. */
  startedAtMs: number
  shard: number
  totalShards: number
  /** In all shards, roughly: for telling how far the round has come. */
  expectedWorkspaces: number
  phase: AuditPhase
  /** This phase is done up to here: a workspace id or, for uploads, an object key. */
  after?: string
  /** The workspace after that, when a slice ended in the middle of it. */
  workspace?: WorkspacePosition
  /** After a failure: the most workspaces that the next slice takes. */
  maxWorkspaces?: number
  counters: AuditCounters
  isComplete: boolean
}

/** With that many, a slice is as good as unlimited. */
const MANY_WORKSPACES = 1000

export function newShard(
  round: Pick<AuditShard, 'roundId' | 'startedAtMs' | 'shard' | 'totalShards' | 'expectedWorkspaces'>,
): AuditShard {
  return { ...round, phase: AUDIT_PHASES[0], counters: { ...NOTHING_AUDITED }, isComplete: false }
}

export function enterNextPhase(shard: AuditShard): void {
  delete shard.after
  const next = AUDIT_PHASES[AUDIT_PHASES.indexOf(shard.phase) + 1]
  if (next === undefined) shard.isComplete = true
  else shard.phase = next
}

/** Slices grow again after a failure, so that it takes few of them to reach what fails, however far off. */
export function growSlices(shard: AuditShard): void {
  const doubled = (shard.maxWorkspaces ?? MANY_WORKSPACES) * 2
  if (doubled < MANY_WORKSPACES) shard.maxWorkspaces = doubled
  else delete shard.maxWorkspaces
}
