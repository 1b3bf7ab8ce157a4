import type { Context } from 'aws-lambda'
import { createDeadline } from '../lib/deadline.ts'
import { type ResolverReport, resolveExpiredReservations } from '../lib/maintenance/resolve-expired-reservations.ts'
import { wireMaintenance } from './wiring/wire-maintenance.ts'

const BOUNDS = { maxResolutions: 1000, timeoutEachMs: 10_000 }

const { dependencies, log, metrics } = wireMaintenance('resolve-reservations')

/** Invoked by the schedule of serverless.yml; the event says nothing. */
export async function handler(_event: unknown, context: Context): Promise<ResolverReport> {
  const { signal } = createDeadline(() => context.getRemainingTimeInMillis())
  const report = await resolveExpiredReservations(BOUNDS, dependencies, signal)
  metrics.publish({
    ReservationsResolved: report.settled + report.released,
    ReservationsUnresolved: report.failed,
    OldestReservation: report.oldestMs,
    ItemsUnreadable: report.unreadable,
  })
  log.info('reservations looked through', { ...report })
  return report
}
