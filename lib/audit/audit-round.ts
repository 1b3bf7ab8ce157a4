import { ServiceError } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import type { AuditDependencies, WorkspaceUsage } from './audit-context.ts'
import { type AuditShard, newShards, sumOf } from './audit-shard.ts'
import { auditSlice, type SliceOptions, skipWorkspace } from './audit-slice.ts'
import { type AuditCounters, FINDING_KINDS, type FindingKind } from './findings.ts'
import type { UsageFiles } from './ports/usage-files.ts'

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
  shards: Partial<Pick<AuditShard, 'shard' | 'usageFiles' | 'lacksUsage' | 'counters' | 'isComplete'>>[]
}

export interface RoundReport extends AuditCounters {
  roundId: string
  durationMs: number
  /** How many shards of the round did not finish. */
  shardsIncomplete: number
}

export interface RoundDependencies extends AuditDependencies {
  metrics: Metrics
  /** Missing: no usage is written. */
  usageFiles?: UsageFiles | undefined
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
  if (event.task === 'end') return endRound(event.round, deps, signal)
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
  const usage: string[] = []
  const sliceOptions: SliceOptions = {
    ...options,
    onFinding(finding) {
      found.set(finding.kind, (found.get(finding.kind) ?? 0) + 1)
      options.onFinding(finding)
    },
    onUsage: (of) => void usage.push(usageLine(of)),
  }
  const unitsBefore = deps.spentUnits()
  let shardAfter =
    task === 'skip'
      ? await skipWorkspace(before, `${error?.Error}: ${error?.Cause}`, sliceOptions, deps, signal)
      : await auditSlice({ ...before, ...(maxWorkspaces && { maxWorkspaces }) }, sliceOptions, deps, signal)
  if (deps.usageFiles && usage.length > 0 && !before.lacksUsage) {
    // A slice that is repeated writes the same file.
    const name = usageFileOf(before, before.shard, before.usageFiles)
    const isWritten = await writeUsage(name, usage.join(''), deps, signal)
    shardAfter = { ...shardAfter, ...(isWritten ? { usageFiles: before.usageFiles + 1 } : { lacksUsage: true }) }
  }
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

async function endRound(round: AuditRound, deps: RoundDependencies, signal: AbortSignal): Promise<RoundReport> {
  const { roundId, startedAtMs, totalShards, shards } = round
  const shardsIncomplete = totalShards - shards.filter(({ isComplete }) => isComplete).length
  const durationMs = deps.now() - startedAtMs
  const report = { roundId, durationMs, shardsIncomplete, ...sumOf(shards) }
  if (deps.usageFiles && shardsIncomplete === 0 && !shards.some(({ lacksUsage }) => lacksUsage)) {
    const files = shards.flatMap(({ shard = 0, usageFiles = 0 }) =>
      Array.from({ length: usageFiles }, (_, number) => usageFileOf(round, shard, number)),
    )
    const { workspaces, documents, documentBytes, findings, notAddedUp } = report
    const sums = { workspaces, documents, document_bytes: documentBytes, findings, not_added_up: notAddedUp }
    const manifest = { round_id: roundId, started_at: new Date(startedAtMs).toISOString(), ...sums, files }
    await writeUsage(`${folderOf(round)}/manifest.json`, JSON.stringify(manifest), deps, signal)
  }
  // Published only now, as after a slice; zeros as well, so that every kind has a line on a graph.
  for (const kind of FINDING_KINDS) deps.metrics.publish({ AuditFindings: 0 }, { kind })
  const isComplete = shardsIncomplete === 0 && report.notAddedUp <= MOST_NOT_ADDED_UP * report.workspaces
  deps.metrics.publish({ AuditRoundsCompleted: isComplete ? 1 : 0 })
  deps.log.info('round of the audit ended', { ...report })
  return report
}

/**
 * The audit goes on without a bucket that refuses, for lack of rights or because it is gone: then the round has no
 * manifest. @returns whether the file is there @throws ServiceError when another try may help
 */
async function writeUsage(name: string, text: string, deps: RoundDependencies, signal: AbortSignal): Promise<boolean> {
  try {
    await deps.usageFiles?.write(name, text, signal)
    return true
  } catch (error) {
    if (error instanceof ServiceError) throw error
    deps.log.error('usage not written: this round has no manifest', { name, error })
    return false
  }
}

/** 2026-11-27T02-00-00Z: when the round began. */
const folderOf = ({ startedAtMs }: Pick<AuditRound, 'startedAtMs'>) =>
  new Date(startedAtMs).toISOString().replace(/\.\d+/, '').replaceAll(':', '-')

const usageFileOf = (round: Pick<AuditRound, 'startedAtMs'>, shard: number, number: number) =>
  `${folderOf(round)}/${shard}-${number}.jsonl`

function usageLine({ workspaceId, quotaBytes, usedBytes, documents, ...audited }: WorkspaceUsage): string {
  const usage = { workspace_id: workspaceId, documents, used_bytes: usedBytes, quota_bytes: quotaBytes }
  const { findings, isAddedUp, countedAtMs } = audited
  const proof = { findings, added_up: isAddedUp, counted_at: new Date(countedAtMs).toISOString() }
  return `${JSON.stringify({ ...usage, ...proof })}\n`
}
