import type { Log } from '../logging.ts'
import type { LedgerOverview, OpenReservation } from './ports.ts'
import { isExpired, resolveReservation } from './resolve-reservation.ts'
import type { TakeBackDependencies } from './take-back.ts'

export interface ResolverDependencies extends TakeBackDependencies {
  overview: LedgerOverview
  log: Log
  now(): number
}

export interface ResolverReport {
  workspaces: number
  settled: number
  released: number
  failed: number
  /** How long the lease of the oldest expired reservation has been over, as it was found; 0: there was none. */
  oldestMs: number
  /** Whether all workspaces were looked at: false when the time or the number of resolutions was used up. */
  isComplete: boolean
}

interface Bounds {
  maxResolutions: number
  /** One that hangs must not take the time of the others. */
  timeoutEachMs: number
}

const PARALLEL = 8

/**
 * Resolves all reservations whose lease has run out, in all workspaces. One that fails is logged and left to the next run;
 * when the signal aborts, the run ends with what it has done so far.
 */
export async function resolveExpiredReservations(
  bounds: Bounds,
  deps: ResolverDependencies,
  signal: AbortSignal,
): Promise<ResolverReport> {
  const report: ResolverReport = { workspaces: 0, settled: 0, released: 0, failed: 0, oldestMs: 0, isComplete: true }
  const batch: OpenReservation[] = []
  const resolveBatch = async () => {
    await Promise.all(batch.splice(0).map((reservation) => resolveOne(reservation, bounds, report, deps, signal)))
  }
  try {
    for await (const { reservations } of deps.overview.list({ onlyWithReservations: true }, signal)) {
      report.workspaces++
      for (const reservation of reservations.filter((each) => isExpired(each, deps.now()))) {
        report.oldestMs = Math.max(report.oldestMs, deps.now() - reservation.leaseExpiresAtMs)
        if (report.settled + report.released + report.failed + batch.length >= bounds.maxResolutions) {
          report.isComplete = false
          break
        }
        batch.push(reservation)
        if (batch.length === PARALLEL) await resolveBatch()
      }
    }
    await resolveBatch()
  } catch (error) {
    if (!signal.aborted) throw error
    report.isComplete = false
  }
  return report
}

async function resolveOne(
  reservation: OpenReservation,
  { timeoutEachMs }: Bounds,
  report: ResolverReport,
  deps: ResolverDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { workspaceId, documentId, attemptId, purpose } = reservation
  const log = deps.log.with({ workspace_id: workspaceId, document_id: documentId, attempt_id: attemptId, purpose })
  try {
    const resolution = await resolveReservation(
      reservation,
      deps,
      AbortSignal.any([signal, AbortSignal.timeout(timeoutEachMs)]),
    )
    report[resolution]++
    log.info('reservation resolved', { resolution })
  } catch (error) {
    report.failed++
    log.error('reservation not resolved, left to the next run', { error })
  }
}
