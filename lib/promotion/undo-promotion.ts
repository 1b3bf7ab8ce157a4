import type { LedgerDependencies } from '../ledger/dependencies.ts'
import { lateCopyOf, undo } from '../ledger/end-attempt.ts'
import type { Attempt } from '../ledger/ports/reservations.ts'
import type { RequestScope } from '../telemetry.ts'
import type { Progress } from './promotion.ts'

/**
 * Undoes our own attempt after it failed. What cannot be undone is logged and not tried again: it stays marked or
 * reserved, and the resolver finishes the work once the lease is over.
 *
 * @returns 'recorded' when only the answer of the record was lost: the promotion has succeeded after all
 */
export async function undoOrLeave(
  attempt: Attempt,
  progress: Progress,
  { deadline, log, telemetry }: RequestScope,
  deps: LedgerDependencies,
): Promise<'recorded' | 'undone' | 'left_to_resolver'> {
  if (!progress.isTaken && progress.reservation === 'none') return 'undone'
  const signal = deadline.undoSignal()
  try {
    return await telemetry.time('undo', async () => {
      // The unmark must have ended: the steps below would race it.
      await progress.unmarked
      if (progress.reservation === 'unknown') throw new Error('it is unknown whether the attempt has reserved')
      if (progress.reservation === 'reserved') {
        return undo(attempt, { mayCopyArrive: progress.copy === 'unanswered' }, deps, signal)
      }
      await undoUnreserved(attempt, progress, deps, signal)
      return 'undone'
    })
  } catch (error) {
    log.error('undo failed, the rest is left to the resolver', {
      document_id: attempt.documentId,
      attempt_id: attempt.attemptId,
      progress: `reservation ${progress.reservation}, copy ${progress.copy}`,
      error,
    })
    return 'left_to_resolver'
  }
}

/** Without a reservation only the marker holds the bytes. It goes before S3 is called: the note names the object. */
async function undoUnreserved(
  attempt: Attempt,
  { isTaken, reservation, copy }: Progress,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { quota, objects, reservations } = deps
  const lateCopy = lateCopyOf(attempt, deps)
  if (copy !== 'none') await reservations.note('late_copy', lateCopy, signal)
  if (isTaken) await quota.release(attempt, signal)
  if (reservation === 'claimed') await reservations.remove(attempt, signal)
  if (copy === 'none') return
  await objects.discard(attempt.objectKey, signal)
  if (copy === 'answered') await reservations.removeNote('late_copy', lateCopy, signal)
}
