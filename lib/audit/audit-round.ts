import type { Metrics } from '../metrics.ts'
import type { AuditDependencies } from './audit-context.ts'
import { type AuditShard, newShards, sumOf } from './audit-shard.ts'
import { auditSlice, type SliceOptions, skipWorkspace } from './audit-slice.ts'
import { type AuditCounters, FINDING_KINDS, type FindingKind } from './findings.ts'

/** A task of the state machine (infra/resources/audit-definition.yml). */
export type AuditTask = BeginTask | SliceTask | { task: 'end'; round: AuditRound }

interface BeginTask {
  task: 'begin'
  roundId: string
  /** ISO 8601. */
  startedAt: string
  /** As Step Functions lists executions. */
  running: readonly { Name: string; StartDate: string }[]
}

interface SliceTask {
  task: 'slice' | 'skip'
  /** Set after a failure, in place of the shard's own. */
  maxWorkspaces?: number
  /** With the error of the last slice, if it failed. */
  state: AuditShard & { error?: { Error: string; Cause: string } }
}

export interface AuditRound extends Pick<AuditShard, 'roundId' | 'startedAtMs' | 'totalShards'> {
  /** Whether it was refused, because an earlier round is still running. */
  isRefused: boolean
  /** At the end, what became of each shard; of a failed one, the state machine's own description, with neither field. */
  shards: Partial<Pick<AuditShard, 'counters' | 'isComplete'>>[]
}

export interface RoundReport extends AuditCounters {
  roundId: string
  durationMs: number
  /** How many shards of the round did not finish. */
  shardsIncomplete: number
}

export interface RoundDependencies extends AuditDependencies {
  metrics: Metrics
  totalShards: number
  /** The setting `auditRoundHours`. */
  roundMs: number
  /** Read units that this process has spent so far. */
  spentUnits(): number
}

/** The largest share of workspaces that a complete round may fail to add up: some are busy at an unlucky moment. */
const MOST_NOT_ADDED_UP = 0.01

/** Performs one task of a round. The answer is JSON, for the state machine. */
export async function performAuditTask(
  event: AuditTask,
  options: SliceOptions,
  deps: RoundDependencies,
  signal: AbortSignal,
): Promise<AuditRound | AuditShard | RoundReport> {
  if (event.task === 'begin') return beginRound(event, deps)
  if (event.task === 'slice' || event.task === 'skip') return performSlice(event, options, deps, signal)
  if (event.task === 'end') return endRound(event.round, deps)
  throw new Error(`The audit knows no task ${JSON.stringify(event)}: it is begun by its state machine.`)
}

/** If several rounds run, the one that began first goes on. */
function beginRound({ roundId, startedAt, running }: BeginTask, { totalShards, log }: RoundDependencies): AuditRound {
  const orderOf = (startedAtIso: string, name: string) => `${new Date(startedAtIso).toISOString()} ${name}`
  const own = orderOf(running.find(({ Name }) => Name === roundId)?.StartDate ?? startedAt, roundId)
  const earlier = running.find(({ Name, StartDate }) => orderOf(StartDate, Name) < own)
  const round = { roundId, startedAtMs: Date.parse(startedAt), totalShards }
  if (earlier) {
    log.warn('audit round refused: an earlier one is still running', { round_id: roundId, running: earlier.Name })
    return { ...round, isRefused: true, shards: [] }
  }
  log.info('round of the audit begun', { round_id: roundId, shards: totalShards })
  return { ...round, isRefused: false, shards: newShards(round) }
}

async function performSlice(
  { task, maxWorkspaces, state: { error, ...before } }: SliceTask,
  options: SliceOptions,
  deps: RoundDependencies,
  signal: AbortSignal,
): Promise<AuditShard> {
  const found = new Map<FindingKind, number>()
  const sliceOptions: SliceOptions = {
    ...options,
    onFinding(finding) {
      found.set(finding.kind, (found.get(finding.kind) ?? 0) + 1)
      options.onFinding(finding)
    },
  }
  const unitsBefore = deps.spentUnits()
  const shardAfter =
    task === 'skip'
      ? await skipWorkspace(before, `${error?.Error}: ${error?.Cause}`, sliceOptions, deps, signal)
      : await auditSlice({ ...before, ...(maxWorkspaces && { maxWorkspaces }) }, sliceOptions, deps, signal)
  // Published only now, so that a slice that has to be repeated has published nothing.
  for (const [kind, count] of found) deps.metrics.publish({ AuditFindings: count }, { kind })
  deps.metrics.publish({
    AuditReads: deps.spentUnits() - unitsBefore,
    AuditRoundAge: (100 * (deps.now() - shardAfter.startedAtMs)) / deps.roundMs,
  })
  const { roundId, shard, phase, counters } = shardAfter
  deps.log.info('slice of the audit done', { round_id: roundId, shard, phase, ...counters })
  return shardAfter
}

function endRound({ roundId, startedAtMs, totalShards, shards }: AuditRound, deps: RoundDependencies): RoundReport {
  const shardsIncomplete = totalShards - shards.filter(({ isComplete }) => isComplete).length
  const durationMs = deps.now() - startedAtMs
  const report = { roundId, durationMs, shardsIncomplete, ...sumOf(shards) }
  // Published only now, as after a slice; zeros as well, so that every kind has a line on a graph.
  for (const kind of FINDING_KINDS) deps.metrics.publish({ AuditFindings: 0 }, { kind })
  const isComplete = shardsIncomplete === 0 && report.notAddedUp <= MOST_NOT_ADDED_UP * report.workspaces
  deps.metrics.publish({ AuditRoundsCompleted: isComplete ? 1 : 0 })
  deps.log.info('round of the audit ended', { ...report })
  return report
}
