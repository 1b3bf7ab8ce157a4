import type { Context } from 'aws-lambda'
import { createDeadline } from '../lib/deadline.ts'
import { type ResolverReport, resolveDueWorkspaces } from '../lib/ledger/resolve-due-workspaces.ts'
import { wireMaintenance } from './wiring/wire.ts'

/** More resolutions than processes that die together can make necessary in one workspace. */
const BOUNDS = { maxResolutions: 20_000, timeoutEachMs: 10_000 }

const { dependencies, metrics } = wireMaintenance('resolve-reservations')

/**
 * @param event.shards the shards of the index of due workspaces to cover; without an event, all
 * @throws when shards could not be listed, once the others are done
 */
export async function handler(event: { shards?: number[] } | undefined, context: Context): Promise<ResolverReport> {
  const { signal } = createDeadline(() => context.getRemainingTimeInMillis())
  const endsAtMs = dependencies.now() + context.getRemainingTimeInMillis()
  const run = { ...BOUNDS, endsAtMs, ...(event?.shards && { shards: event.shards }) }
  const report = await resolveDueWorkspaces(run, dependencies, signal)
  metrics.publish({
    ReservationsResolved: report.ended + report.gaveBack,
    ReservationsUnresolved: report.failed,
    OldestLeftover: Math.max(report.oldestMs, report.longestWaitMs),
  })
  dependencies.log.info('reservations looked through', { shards: event?.shards, ...report })
  if (report.unlisted > 0) throw new Error(`due workspaces of ${report.unlisted} shards could not be listed`)
  return report
}
