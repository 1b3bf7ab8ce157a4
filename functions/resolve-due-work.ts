import type { Context } from 'aws-lambda'
import { createDeadline } from '../lib/deadline.ts'
import { type ResolverReport, resolveDueItems } from '../lib/ledger/resolve-due-items.ts'
import { wireMaintenance } from './wiring/wire-maintenance.ts'

const { dependencies, metrics } = wireMaintenance('resolve-due-work')

/**
 * Works on leftovers and on expired documents in parallel.
 * @param event.shards the shards of the index of due work to cover; without an event, all
 * @throws when shards could not be listed, once all else is done
 */
export async function handler(
  event: { shards?: number[] } | undefined,
  context: Context,
): Promise<Record<'leftovers' | 'expiries', ResolverReport>> {
  const { signal } = createDeadline(() => context.getRemainingTimeInMillis())
  const run = { timeoutEachMs: 10_000, ...(event?.shards && { shards: event.shards }) }
  const [leftovers, expiries] = await Promise.all([
    resolveDueItems('work', run, dependencies, signal),
    resolveDueItems('expiry', run, dependencies, signal),
  ])
  metrics.publish({
    LeftoversResolved: leftovers.resolved,
    LeftoversFailed: leftovers.failed,
    OldestLeftover: leftovers.oldestMs,
    // Stages where nothing expires pay for no further metrics.
    ...(expiries.freed > 0 && { Expiries: expiries.freed }),
    ...(expiries.failed > 0 && { ExpiriesFailed: expiries.failed }),
    ...(expiries.oldestMs > 0 && { OldestExpiry: expiries.oldestMs }),
  })
  dependencies.log.info('due work looked through', { shards: event?.shards, leftovers, expiries })
  const unlisted = leftovers.unlisted + expiries.unlisted
  if (unlisted > 0) throw new Error(`due work of ${unlisted} shards could not be listed`)
  return { leftovers, expiries }
}
