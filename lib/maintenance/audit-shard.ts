import type { WorkspacePosition } from './audit-workspace.ts'
import { type AuditCounters, NOTHING_AUDITED } from './findings.ts'

/**
 * What a shard goes through, one after the other. First the workspaces with a ledger; then those that only the other tables
 * know, or only their objects; then the unfinished uploads of all.
 */
export const AUDIT_PHASES = ['ledgers', 'documents', 'reservations', 'objects', 'uploads'] as const
export type AuditPhase = (typeof AUDIT_PHASES)[number]

/**
 * Where one shard of a round has come to. It goes from slice to slice as JSON, by way of the engine, which takes 256 KB: all
 * of it is small, but for what adding up a busy workspace carries (audit-usage.ts, below 100 KB).
 */
export interface AuditShard {
  roundId: string
  /** Of the round. */
  startedAtMs: number
  shard: number
  totalShards: number
  /** Of all shards, as far as is known: for telling how far the round has come. */
  expectedWorkspaces: number
  phase: AuditPhase
  /** In this phase, all up to this one is done: a workspace id; of the uploads, an object key. */
  after?: string
  /** The workspace behind it, when a slice ended in the middle. */
  workspace?: WorkspacePosition
  /** After a failure: how many workspaces the next slice takes at most. */
  maxWorkspaces?: number
  counters: AuditCounters
  isComplete: boolean
}

/** Beyond that many, a slice is as good as any. */
const MANY_WORKSPACES = 1000

export function newShard(
  round: Pick<AuditShard, 'roundId' | 'startedAtMs' | 'shard' | 'totalShards' | 'expectedWorkspaces'>,
): AuditShard {
  return { ...round, phase: AUDIT_PHASES[0], counters: { ...NOTHING_AUDITED }, isComplete: false }
}

/** All of a phase is done. */
export function enterNextPhase(shard: AuditShard): void {
  delete shard.after
  const next = AUDIT_PHASES[AUDIT_PHASES.indexOf(shard.phase) + 1]
  if (next === undefined) shard.isComplete = true
  else shard.phase = next
}

/** After a failure, slices grow again: what makes them fail is reached in a few of them, however far it is. */
export function growSlices(shard: AuditShard): void {
  const doubled = (shard.maxWorkspaces ?? MANY_WORKSPACES) * 2
  if (doubled < MANY_WORKSPACES) shard.maxWorkspaces = doubled
  else delete shard.maxWorkspaces
}
