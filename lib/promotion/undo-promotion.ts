import type { LedgerDependencies } from '../ledger/dependencies.ts'
import { undoReserved, untilCopyEnds } from '../ledger/end-attempt.ts'
import type { Attempt } from '../ledger/ports/reservations.ts'
import type { RequestScope } from '../telemetry.ts'
import type { Traces } from './promotion.ts'

/**
 * Undoes our own attempt after it failed. What cannot be undone is logged and not tried again: it stays marked or
 * reserved, and the resolver finishes the work once the lease is over.
 *
 * @returns 'recorded' when only the answer of the record was lost: the promotion has succeeded after all
 */
export async function undoOrLeave(
  attempt: Attempt,
  traces: Traces,
  { deadline, log, telemetry }: RequestScope,
  deps: LedgerDependencies,
): Promise<'recorded' | 'undone' | 'left_to_resolver'> {
  if (!traces.hasTaking && traces.reservation === 'none') return 'undone'
  const signal = deadline.undoSignal()
  try {
    return await telemetry.time('undo', async () => {
      if (traces.reservation === 'unknown') throw new Error('it is unknown whether the attempt has reserved')
      if (traces.reservation === 'reserved') {
        return undoReserved(attempt, { hasLateCopy: traces.object === 'late_copy' }, deps, signal)
      }
      await undoUnreserved(attempt, traces, deps, signal)
      return 'undone'
    })
  } catch (error) {
    log.error('undo failed, the rest is left to the resolver', {
      document_id: attempt.documentId,
      attempt_id: attempt.attemptId,
      traces,
      error,
    })
    return 'left_to_resolver'
  }
}

/** Without a reservation only the marker holds the bytes. It goes before S3 is called: the note names the object. */
async function undoUnreserved(
  attempt: Attempt,
  { hasTaking, reservation, object }: Traces,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { quota, objects, reservations } = deps
  const noted = untilCopyEnds(attempt, deps)
  if (object !== 'none') await reservations.note('late_copy', noted, signal)
  if (hasTaking) await quota.giveBack(attempt, signal)
  if (reservation === 'claim') await reservations.remove(attempt, signal)
  if (object === 'none') return
  await objects.discard(attempt.objectKey, signal)
  if (object === 'may_exist') await reservations.removeNote('late_copy', noted, signal)
}
