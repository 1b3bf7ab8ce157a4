import type { Context } from 'aws-lambda'
import { createDeadline } from '../lib/deadline.ts'
import { type ExpiryReport, expireDocuments } from '../lib/ledger/expire-documents.ts'
import { type ResolverReport, resolveDueWorkspaces } from '../lib/ledger/resolve-due-workspaces.ts'
import { wireMaintenance } from './wiring/wire.ts'

/** More resolutions than processes that die together can make necessary in one workspace. */
const MAX_RESOLUTIONS = 20_000

const { dependencies, metrics } = wireMaintenance('resolve-reservations')

/**
 * Leftovers and expired documents are worked off beside each other.
 * @param event.shards the shards of both indexes to cover; without an event, all
 * @throws when shards of due workspaces could not be listed, once all else is done
 */
export async function handler(
  event: { shards?: number[] } | undefined,
  context: Context,
): Promise<ResolverReport & { expiries: ExpiryReport }> {
  const { signal } = createDeadline(() => context.getRemainingTimeInMillis())
  const endsAtMs = dependencies.now() + context.getRemainingTimeInMillis()
  const run = { timeoutEachMs: 10_000, endsAtMs, ...(event?.shards && { shards: event.shards }) }
  const [resolved, expiries] = await Promise.all([
    resolveDueWorkspaces({ ...run, maxResolutions: MAX_RESOLUTIONS }, dependencies, signal),
    expireDocuments(run, dependencies, signal),
  ])
  const report = { ...resolved, expiries }
  metrics.publish({
    ReservationsResolved: report.ended + report.gaveBack,
    ReservationsUnresolved: report.failed,
    OldestLeftover: Math.max(report.oldestMs, report.longestWaitMs),
    // Stages where nothing expires pay for no further metrics.
    ...(expiries.expired > 0 && { Expiries: expiries.expired }),
    ...(expiries.failed + expiries.unlisted > 0 && { ExpiriesFailed: expiries.failed + expiries.unlisted }),
    ...(expiries.oldestMs > 0 && { OldestExpiry: expiries.oldestMs }),
  })
  dependencies.log.info('reservations looked through', { shards: event?.shards, ...report })
  if (report.unlisted > 0) throw new Error(`due workspaces of ${report.unlisted} shards could not be listed`)
  return report
}
