import { UnreadableItemError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import {
  type ResolverBounds,
  type ResolverDependencies,
  resolveWorkspace,
  type WorkspaceReport,
} from '../promotion/resolve-workspace.ts'
import type { LedgerMaintenance } from './ports.ts'

export interface ResolverReport extends WorkspaceReport {
  /** Those that were due. */
  workspaces: number
}

interface DueWorkspace {
  workspaceId: WorkspaceId
  checkDueAtMs: number
}

const PARALLEL = 8
const UNREADABLE_PAUSE_MS = 10 * 60 * 1000

/**
 * Resolves what dead processes have left, in all workspaces that are due. One that fails is logged and left to the next run;
 * when the signal aborts, the run ends with what it has done so far.
 */
export async function resolveExpiredReservations(
  bounds: ResolverBounds,
  deps: ResolverDependencies & { ledgers: LedgerMaintenance },
  signal: AbortSignal,
): Promise<ResolverReport> {
  const report: ResolverReport = {
    workspaces: 0,
    settled: 0,
    released: 0,
    failed: 0,
    unreadable: 0,
    oldestMs: 0,
    isComplete: true,
  }
  const resolutions = () => report.settled + report.released + report.failed
  const batch: DueWorkspace[] = []
  const resolveBatch = async () => {
    const reports = batch.splice(0).map((due) => resolveOne(due))
    for (const each of await Promise.all(reports)) addTo(report, each)
  }
  const resolveOne = async ({ workspaceId, checkDueAtMs }: DueWorkspace): Promise<Partial<WorkspaceReport>> => {
    const left = { ...bounds, maxResolutions: bounds.maxResolutions - resolutions() }
    try {
      return await resolveWorkspace(workspaceId, left, deps, signal)
    } catch (error) {
      if (signal.aborted) throw error
      deps.log.error('workspace not looked at, left to a later run', { workspace_id: workspaceId, error })
      if (!(error instanceof UnreadableItemError)) return { failed: 1 }
      // Nothing will change until somebody repairs it: it must not be in the way of the others.
      await deps.ledgers.reschedule(
        workspaceId,
        { seenMs: checkDueAtMs, nextMs: deps.now() + UNREADABLE_PAUSE_MS },
        signal,
      )
      return { unreadable: 1 }
    }
  }
  try {
    for await (const due of deps.ledgers.listDue(deps.now(), signal)) {
      report.workspaces++
      batch.push(due)
      if (batch.length === PARALLEL) await resolveBatch()
    }
    await resolveBatch()
  } catch (error) {
    if (!signal.aborted) throw error
    report.isComplete = false
  }
  return report
}

function addTo(report: ResolverReport, { oldestMs = 0, isComplete = true, ...counts }: Partial<WorkspaceReport>): void {
  for (const [name, count] of Object.entries(counts)) report[name as 'settled'] += count
  report.oldestMs = Math.max(report.oldestMs, oldestMs)
  report.isComplete &&= isComplete
}
