import type { RequestScope } from '../request-scope.ts'
import { type ReleaseDependencies, releaseBytes } from './release-bytes.ts'
import type { Reservation } from './reservations.ts'

/** Completing an upload "could take several minutes" (S3 API, CompleteMultipartUpload), even after its caller has gone. */
const LONGEST_COPY_MS = 15 * 60 * 1000

/**
 * Ends an attempt whose reservation is open: fences its record, deletes its object, then gives its bytes back, so that
 * a document never lacks its bytes and no bytes go uncounted. Anybody may repeat it at any time.
 *
 * @param mayCopyArrive S3 may still finish a copy that was given up: somebody must look again later
 * @returns 'recorded' when the document turns out to exist: nothing is undone, and the caller must settle
 */
export async function undo(
  reservation: Reservation,
  { mayCopyArrive }: { mayCopyArrive: boolean },
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<'recorded' | 'undone'> {
  if ((await deps.documents.fence(reservation, signal)) === 'recorded') return 'recorded'
  // Not before the fence: a watch ends in deleting the object, and the document might exist.
  if (mayCopyArrive) await watchForCopy(reservation, deps, signal)
  // From here on the reservation alone holds the bytes.
  await deps.ledger.unmark(reservation, signal)
  await deps.objects.discard(reservation.objectKey, signal)
  await releaseBytes(reservation, 'undo', deps, signal)
  return 'undone'
}

/** Leaves a note that S3 may still write the object of an attempt that was given up. */
export async function watchForCopy(
  reservation: Reservation,
  { reservations, now }: Pick<ReleaseDependencies, 'reservations' | 'now'>,
  signal: AbortSignal,
): Promise<void> {
  await reservations.watch({ ...reservation, leaseExpiresAtMs: now() + LONGEST_COPY_MS }, signal)
}

/** Ends a recorded attempt. The marker goes first: without a reservation it would mean bytes to give back. */
export async function settle(
  reservation: Reservation,
  deps: Pick<ReleaseDependencies, 'ledger' | 'reservations'>,
  signal: AbortSignal,
): Promise<void> {
  await deps.ledger.unmark(reservation, signal)
  await deps.reservations.remove(reservation, signal)
}

/** How far an attempt got before it failed. */
export interface Progress {
  /** `unknown`: it may be open, or may still become so. */
  reservation: 'none' | 'unknown' | 'open'
  copy: 'none' | 'unanswered' | 'answered'
  /** Whether the marker is gone, so that the reservation alone holds the bytes. Never rejects. */
  unmarked: Promise<boolean>
}

/**
 * Undoes our own attempt after it failed. If that fails too, it is logged and not tried again: what is left stays
 * marked or reserved, and the resolver finishes the work once the lease is over.
 *
 * @returns 'recorded' when only the answer of the record was lost: the promotion has succeeded after all
 */
export async function undoOrLeave(
  reservation: Reservation,
  progress: Progress,
  { deadline, log, telemetry }: RequestScope,
  deps: ReleaseDependencies,
): Promise<'recorded' | 'undone' | 'left_to_resolver'> {
  const signal = deadline.undoSignal()
  try {
    return await telemetry.time('undo', async () => {
      // What follows must run alone.
      await progress.unmarked
      const mayCopyArrive = progress.copy === 'unanswered'
      if (await isOpen(reservation, progress, deps, signal)) {
        return undo(reservation, { mayCopyArrive }, deps, signal)
      }
      if (mayCopyArrive) await watchForCopy(reservation, deps, signal)
      if (progress.copy !== 'none') await deps.objects.discard(reservation.objectKey, signal)
      await deps.ledger.release(reservation, signal)
      return 'undone'
    })
  } catch (error) {
    log.error('undo failed, the rest is left to the resolver', {
      document_id: reservation.documentId,
      attempt_id: reservation.attemptId,
      progress: `reservation ${progress.reservation}, copy ${progress.copy}`,
      error,
    })
    return 'left_to_resolver'
  }
}

/** Whether the reservation is open; if not, it never will be. */
async function isOpen(
  reservation: Reservation,
  progress: Progress,
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<boolean> {
  if (progress.reservation !== 'unknown') return progress.reservation === 'open'
  const outcome = await deps.reservations.forestall(reservation, signal)
  if (outcome === 'occupied')
    throw new Error('an opening of unknown outcome may still arrive once the other attempt ends')
  return outcome === 'open'
}
