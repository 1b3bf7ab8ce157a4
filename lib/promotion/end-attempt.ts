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
  // Not before the fence: the note ends in deleting the object, and the document might exist.
  if (mayCopyArrive) await deps.reservations.note('late_copy', lateCopyOf(reservation, deps), signal)
  // From here on the reservation alone holds the bytes.
  await deps.ledger.unmark(reservation, signal)
  await deps.objects.discard(reservation.objectKey, signal)
  await releaseBytes(reservation, 'undo', deps, signal)
  return 'undone'
}

/** What is noted when S3 may still write the object of an attempt that was given up. */
export function lateCopyOf(reservation: Reservation, { now }: Pick<ReleaseDependencies, 'now'>): Reservation {
  return { ...reservation, leaseExpiresAtMs: now() + LONGEST_COPY_MS }
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
  /** Whether the bytes were taken, as far as is known. */
  isTaken: boolean
  /** `unknown`: it may be open, or may still become so. */
  reservation: 'none' | 'claimed' | 'unknown' | 'open'
  copy: 'none' | 'unanswered' | 'answered'
  /** Whether the marker is gone, so that the reservation alone holds the bytes. Never rejects. */
  unmarked: Promise<boolean>
}

/**
 * Undoes our own attempt after it failed. What cannot be undone is logged and not tried again: it stays marked or
 * reserved, and the resolver finishes the work once the lease is over.
 *
 * @returns 'recorded' when only the answer of the record was lost: the promotion has succeeded after all
 */
export async function undoOrLeave(
  reservation: Reservation,
  progress: Progress,
  { deadline, log, telemetry }: RequestScope,
  deps: ReleaseDependencies,
): Promise<'recorded' | 'undone' | 'left_to_resolver'> {
  if (!progress.isTaken && progress.reservation === 'none') return 'undone'
  const signal = deadline.undoSignal()
  try {
    return await telemetry.time('undo', async () => {
      // The unmark must have ended: the steps below would race it.
      await progress.unmarked
      if (progress.reservation === 'unknown') throw new Error('it is unknown whether the reservation is open')
      if (progress.reservation === 'open') {
        return undo(reservation, { mayCopyArrive: progress.copy === 'unanswered' }, deps, signal)
      }
      await undoUnopened(reservation, progress, deps, signal)
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

/** Without a reservation only the marker holds the bytes. It goes before S3 is called: the note names the object. */
async function undoUnopened(
  reservation: Reservation,
  { isTaken, reservation: claim, copy }: Progress,
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { ledger, objects, reservations } = deps
  const lateCopy = lateCopyOf(reservation, deps)
  if (copy !== 'none') await reservations.note('late_copy', lateCopy, signal)
  if (isTaken) await ledger.release(reservation, signal)
  if (claim === 'claimed') await reservations.remove(reservation, signal)
  if (copy === 'none') return
  await objects.discard(reservation.objectKey, signal)
  if (copy === 'answered') await reservations.removeNote('late_copy', lateCopy, signal)
}
