import pMap from 'p-map'
import { ServiceError } from '../errors.ts'
import type { ResolverDependencies } from './dependencies.ts'
import type { DueWorkspace, LedgerMaintenance } from './ports/ledger-maintenance.ts'
import { UnreadableItemError } from './ports/unreadable-item.ts'
import { type ResolverBounds, resolveWorkspace, type WorkspaceReport } from './resolve-workspace.ts'

export interface ResolverRun extends Omit<ResolverBounds, 'leaseUntilMs'> {
  /** Shards of the index of due workspaces; omitted: all. Other runs have the other shards. */
  shards?: readonly number[]
  /** When this run is certainly over, ms since 1970: until then nobody else leases its workspaces. */
  endsAtMs?: number
}

export interface ResolverReport extends Omit<WorkspaceReport, 'isLeftToOthers'> {
  /** Due workspaces that this run looked through, whether or not it succeeded. */
  workspaces: number
  /** Those left to another run or a request, which was faster. */
  leftToOthers: number
  /** Those that had been due for longer than {@link LATE_MS}. */
  late: number
  /** For how long the first of them had been due. */
  longestWaitMs: number
  /** Shards that could not be listed. */
  unlisted: number
}

/** The most workspaces that a run works on at once, over all its shards. */
const WORKSPACES_AT_ONCE = 64
/** A run begins every minute: a workspace waits longer than a minute and a half only if a run did not get to it. */
const LATE_MS = 90_000
/** No run takes longer than this. */
const LONGEST_RUN_MS = 60_000
const POSTPONED_FOR_MS = 10 * 60 * 1000

/**
 * Resolves what dead processes have left in all workspaces that are due, the longest due first. One that fails is
 * logged and postponed. When the signal aborts, the run ends with what it has done so far; the rest stays due and comes
 * first next time.
 */
export async function resolveDueWorkspaces(
  { shards, endsAtMs, ...bounds }: ResolverRun,
  deps: ResolverDependencies & { workspaces: LedgerMaintenance },
  signal: AbortSignal,
): Promise<ResolverReport> {
  const startedAtMs = deps.now()
  const leaseUntilMs = endsAtMs ?? startedAtMs + LONGEST_RUN_MS
  const ownShards = shards ?? deps.workspaces.dueShards
  const report: ResolverReport = {
    workspaces: 0,
    leftToOthers: 0,
    late: 0,
    longestWaitMs: 0,
    unlisted: 0,
    ended: 0,
    gaveBack: 0,
    failed: 0,
    unreadable: 0,
    oldestMs: 0,
    isComplete: true,
  }
  const concurrency = Math.ceil(WORKSPACES_AT_ONCE / ownShards.length)
  await Promise.all(ownShards.map((shard) => pMap(eachDue(shard), resolveDue, { concurrency })))
  return report

  /** A failure to list ends the shard, once the work on its workspaces has ended. */
  async function* eachDue(shard: number): AsyncGenerator<DueWorkspace> {
    try {
      for await (const page of deps.workspaces.listDue({ shard, nowMs: startedAtMs }, signal)) {
        for (const { checkDueAtMs } of page) {
          const waitMs = startedAtMs - checkDueAtMs
          if (waitMs > LATE_MS) report.late++
          report.longestWaitMs = Math.max(report.longestWaitMs, waitMs)
        }
        for (const due of page) {
          signal.throwIfAborted()
          yield due
        }
      }
    } catch (error) {
      report.isComplete = false
      if (signal.aborted) return
      report.unlisted++
      deps.log.error('due workspaces not listed, left to a later run', { shard, error })
    }
  }

  async function resolveDue(due: DueWorkspace): Promise<void> {
    try {
      addTo(report, await resolveWorkspace(due.workspaceId, { ...bounds, leaseUntilMs }, deps, signal))
    } catch (error) {
      if (signal.aborted) {
        report.isComplete = false
        return
      }
      report.workspaces++
      report[error instanceof UnreadableItemError ? 'unreadable' : 'failed']++
      deps.log.error('workspace not resolved, left to a later run', { workspace_id: due.workspaceId, error })
      // A store in trouble would refuse this write, too, and recovers long before a postponed check.
      if (!isStoreInTrouble(error)) await postpone(due)
    }
  }

  /** Postpones a workspace that somebody has to repair, so that it does not hold up the others. */
  async function postpone({ workspaceId, checkDueAtMs: seenDueAtMs }: DueWorkspace): Promise<void> {
    try {
      await deps.workspaces.reschedule(workspaceId, { seenDueAtMs, nextMs: deps.now() + POSTPONED_FOR_MS }, signal)
    } catch (error) {
      deps.log.error('workspace not postponed', { workspace_id: workspaceId, error })
    }
  }
}

function isStoreInTrouble(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === 'service_unavailable'
}

function addTo(report: ResolverReport, { oldestMs, isComplete, isLeftToOthers, ...counts }: WorkspaceReport): void {
  report[isLeftToOthers ? 'leftToOthers' : 'workspaces']++
  for (const [name, count] of Object.entries(counts)) report[name as keyof typeof counts] += count
  report.oldestMs = Math.max(report.oldestMs, oldestMs)
  report.isComplete &&= isComplete
}
