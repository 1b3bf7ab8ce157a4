import type { Metrics } from '../metrics.ts'
import { type AuditShard, newShard } from './audit-shard.ts'
import { auditSlice, passBy, type SliceOptions } from './audit-slice.ts'
import type { AuditDependencies, AuditOptions } from './audit-workspace.ts'
import { type AuditCounters, FINDING_KINDS, type Finding, type FindingKind, NOTHING_AUDITED } from './findings.ts'

/** What the engine asks for (infra/resources/audit-definition.yml). `error` is that of the last slice. */
export type AuditTask =
  | { task: 'begin'; roundId: string; startedAt: string; running: readonly RunningRound[] }
  | { task: 'slice' | 'step' | 'pass_by'; state: AuditShard & { error?: { Error: string; Cause: string } } }
  | { task: 'end'; round: AuditRound }

/** As Step Functions lists executions. */
export interface RunningRound {
  Name: string
  /** ISO 8601. */
  StartDate: string
}

export interface AuditRound {
  roundId: string
  startedAtMs: number
  /** An earlier round is still running. */
  isRefused: boolean
  totalShards: number
  /** At the end: what each shard came to; of one whose execution failed, the engine's own account, with neither. */
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
  roundMs: number
  /** Roughly, for telling how far a round has come. */
  countWorkspaces(signal: AbortSignal): Promise<number>
  /** Read units that this process has spent so far. */
  spentUnits(): number
}

export interface TaskOptions extends Omit<AuditOptions, 'onFinding'> {
  isOver(): boolean
  onFinding(finding: Finding, roundId: string): void
}

/** Performs one task of a round. The answer is JSON, for the engine. */
export async function performAuditTask(
  event: AuditTask,
  options: TaskOptions,
  deps: RoundDependencies,
  signal: AbortSignal,
): Promise<AuditRound | AuditShard | RoundReport> {
  switch (event.task) {
    case 'begin':
      return beginRound(event, deps, signal)
    case 'slice':
    case 'step':
    case 'pass_by':
      return performSlice(event, options, deps, signal)
    case 'end':
      return endRound(event.round, deps)
    default:
      throw new Error(`The audit knows no task ${JSON.stringify(event)}: it is begun by its state machine.`)
  }
}

/** If several rounds run, the one that began first goes on. */
async function beginRound(
  { roundId, startedAt, running }: Extract<AuditTask, { task: 'begin' }>,
  { totalShards, countWorkspaces, log }: RoundDependencies,
  signal: AbortSignal,
): Promise<AuditRound> {
  const orderOf = (startedAtIso: string, name: string) => `${new Date(startedAtIso).toISOString()} ${name}`
  const own = orderOf(running.find(({ Name }) => Name === roundId)?.StartDate ?? startedAt, roundId)
  const earlier = running.find(({ Name, StartDate }) => orderOf(StartDate, Name) < own)
  const round = { roundId, startedAtMs: Date.parse(startedAt), totalShards }
  if (earlier) {
    log.warn('audit round refused: an earlier one is still running', { round_id: roundId, running: earlier.Name })
    return { ...round, isRefused: true, shards: [] }
  }
  const expectedWorkspaces = await countWorkspaces(signal)
  const shards = Array.from({ length: totalShards }, (_, shard) => newShard({ ...round, shard, expectedWorkspaces }))
  log.info('round of the audit begun', { round_id: roundId, shards: totalShards, workspaces: expectedWorkspaces })
  return { ...round, isRefused: false, shards }
}

async function performSlice(
  { task, state: { error, ...before } }: Extract<AuditTask, { state: unknown }>,
  options: TaskOptions,
  deps: RoundDependencies,
  signal: AbortSignal,
): Promise<AuditShard> {
  const found = new Map<FindingKind, number>()
  const sliceOptions: SliceOptions = {
    ...options,
    onFinding(finding) {
      found.set(finding.kind, (found.get(finding.kind) ?? 0) + 1)
      options.onFinding(finding, before.roundId)
    },
  }
  const unitsBefore = deps.spentUnits()
  const after =
    task === 'pass_by'
      ? await passBy(before, `${error?.Error}: ${error?.Cause}`, sliceOptions, deps, signal)
      : await auditSlice(task === 'step' ? { ...before, maxWorkspaces: 1 } : before, sliceOptions, deps, signal)
  // Only now, so that a slice that is repeated has published nothing.
  for (const [kind, count] of found) deps.metrics.publish({ AuditFindings: count }, { kind })
  deps.metrics.publish({
    AuditedWorkspaces: after.counters.workspaces - before.counters.workspaces,
    AuditedDocuments: after.counters.documents - before.counters.documents,
    AuditReads: deps.spentUnits() - unitsBefore,
    WorkspacesNotAddedUp: after.counters.notAddedUp - before.counters.notAddedUp,
    ItemsUnreadable: found.get('unreadable_item') ?? 0,
    AuditProgress: progressOf(after),
    AuditRoundAge: (100 * (deps.now() - after.startedAtMs)) / deps.roundMs,
  })
  const { roundId, shard, phase, counters } = after
  deps.log.info('slice of the audit done', { round_id: roundId, shard, phase, ...counters })
  return after
}

/** In percent. The ledgers are the work; the phases after them are quick. */
function progressOf({ phase, isComplete, counters, expectedWorkspaces, totalShards }: AuditShard): number {
  if (isComplete) return 100
  const expected = Math.max(1, expectedWorkspaces / totalShards)
  return phase === 'ledgers' ? Math.min(99, (100 * counters.workspaces) / expected) : 99
}

function endRound({ roundId, startedAtMs, totalShards, shards }: AuditRound, deps: RoundDependencies): RoundReport {
  const shardsIncomplete = totalShards - shards.filter(({ isComplete }) => isComplete).length
  const durationMs = deps.now() - startedAtMs
  const report = { roundId, durationMs, shardsIncomplete, ...sumOf(shards) }
  // Zeros as well, so that every kind has a line on a graph.
  for (const kind of FINDING_KINDS) deps.metrics.publish({ AuditFindings: 0 }, { kind })
  deps.metrics.publish({
    AuditRoundsCompleted: shardsIncomplete === 0 ? 1 : 0,
    AuditShardsIncomplete: shardsIncomplete,
    AuditRoundTime: durationMs,
  })
  deps.log.info('round of the audit ended', { ...report })
  return report
}

function sumOf(shards: AuditRound['shards']): AuditCounters {
  const sum = { ...NOTHING_AUDITED }
  for (const { counters = NOTHING_AUDITED } of shards) {
    for (const name of Object.keys(sum) as (keyof AuditCounters)[]) sum[name] += counters[name]
  }
  return sum
}
