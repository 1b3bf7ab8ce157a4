import { randomUUID } from 'node:crypto'
import { createReadPace, paceReads } from '../../lib/aws/read-pace.ts'
import { countItemsRoughly } from '../../lib/aws/table-size.ts'
import { ServiceError } from '../../lib/errors.ts'
import {
  type AuditTask,
  performAuditTask,
  type RoundDependencies,
  type RoundReport,
  type TaskOptions,
} from '../../lib/maintenance/audit-round.ts'
import type { AuditShard } from '../../lib/maintenance/audit-shard.ts'
import type { AuditOptions } from '../../lib/maintenance/audit-workspace.ts'
import type { AuditReport } from '../../lib/maintenance/findings.ts'
import { playRound, readAuditDefinition } from '../audit/round.ts'
import { type BegunRound, createCheckpoint } from './audit-checkpoint.ts'
import { progressBar } from './progress-bar.ts'
import type { Session } from './session.ts'

/** The most work that is done again after this process was killed; Ctrl-C loses nothing. */
const SLICE_MS = 60_000
/** Caps the pauses that the definition makes for machines: a person waits here. */
const LONGEST_PAUSE_MS = 1000

/**
 * Audits all workspaces: a round of the state machine that is deployed, with this process in place of the function. A
 * stopped round can be continued later.
 * @param continues where the last one was stopped
 */
export async function auditAll(
  options: AuditOptions,
  continues: boolean,
  { output, signal, stores, target }: Session,
): Promise<AuditReport> {
  const checkpoint = createCheckpoint(target)
  let round = continues ? await checkpoint.read() : undefined
  const deps = toRoundDependencies(await stores())
  // Whatever the stores refuse, they refuse for all workspaces: then there is no point in going on.
  const failed = new AbortController()
  let workspaces = sumOfWorkspaces(round)
  const showProgress = () => output.progress(describeProgress(workspaces, round))
  const taskOptions = (): TaskOptions => {
    const endAtMs = performance.now() + SLICE_MS
    return {
      ...options,
      isOver: () => performance.now() >= endAtMs,
      onWorkspace() {
        workspaces++
        showProgress()
      },
    }
  }
  const invoke = async (task: AuditTask, taskSignal: AbortSignal): Promise<unknown> => {
    if (task.task === 'begin' && round) return round
    // Before the first workspace is done: it may be a large one.
    showProgress()
    try {
      const answer = await performAuditTask(task, taskOptions(), deps, taskSignal)
      if (task.task === 'begin') round = answer as BegunRound
      else if (task.task !== 'end') round?.shards.splice(task.state.shard, 1, answer as AuditShard)
      if (round) await checkpoint.write(round)
      return answer
    } catch (error) {
      if (isOfStores(error)) failed.abort(error)
      throw error
    }
  }
  try {
    const report = await playRound({
      definition: readAuditDefinition(),
      roundId: round?.roundId ?? randomUUID(),
      invoke,
      signal: AbortSignal.any([signal, failed.signal]),
      longestPauseMs: LONGEST_PAUSE_MS,
    })
    await checkpoint.remove()
    const { shardsIncomplete, roundId: _, durationMs: _durationMs, ...counters } = report as RoundReport
    return { ...counters, isComplete: shardsIncomplete === 0 }
  } catch (error) {
    if (round) output.note(`${describeProgress(workspaces, round)}. Go on with: audit --continue`)
    throw error
  }
}

function toRoundDependencies(stores: Awaited<ReturnType<Session['stores']>>): RoundDependencies {
  const { config, dynamoDb, s3 } = stores
  const pace = createReadPace({ unitsPerSecond: config.audit.readsPerSecond })
  paceReads({ dynamoDb, s3 }, pace)
  return {
    ...stores,
    metrics: { publish() {} },
    totalShards: config.audit.shards,
    roundMs: config.audit.roundHours * 60 * 60 * 1000,
    countWorkspaces: (signal) => countItemsRoughly({ client: dynamoDb, tableName: config.workspacesTable }, signal),
    spentUnits: () => pace.spentUnits,
  }
}

function isOfStores(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error instanceof ServiceError || '$metadata' in error || error.name === 'CredentialsProviderError'
}

const sumOfWorkspaces = (round: BegunRound | undefined) =>
  (round?.shards ?? []).reduce((sum, { counters }) => sum + counters.workspaces, 0)

function describeProgress(workspaces: number, round: BegunRound | undefined): string {
  const expected = round?.shards[0]?.expectedWorkspaces ?? 0
  return `audited ${progressBar(workspaces, expected)} workspaces`
}
