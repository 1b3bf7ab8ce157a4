import type { RequestScope } from '../request-scope.ts'
import { type ReleaseDependencies, releaseBytes } from './release-bytes.ts'
import type { Reservation } from './reservations.ts'

/** Completing an upload "could take several minutes" (S3 API, CompleteMultipartUpload), whatever becomes of its caller. */
const LONGEST_COPY_MS = 15 * 60 * 1000

/**
 * Ends an attempt whose reservation is open: keeps its record out, removes its object, gives its bytes back, so that no
 * moment shows a document without bytes or bytes uncounted. May be repeated, by anybody, at any time.
 *
 * @param mayCopyArrive S3 was left alone with a copy and may still finish it: somebody must look again later
 * @returns 'recorded' when the document turns out to be there: then nothing is undone, and it is to be settled
 */
export async function undo(
  reservation: Reservation,
  { mayCopyArrive }: { mayCopyArrive: boolean },
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<'recorded' | 'undone'> {
  if ((await deps.documents.fence(reservation, signal)) === 'recorded') return 'recorded'
  // Not before the fence: a watch deletes the object, and the document might turn out to be there.
  if (mayCopyArrive) await watchForCopy(reservation, deps, signal)
  // From here on the reservation alone stands for the bytes.
  await deps.ledger.unmark(reservation, signal)
  await deps.objects.discard(reservation.objectKey, signal)
  await releaseBytes(reservation, 'undo', deps, signal)
  return 'undone'
}

/** Leaves word that S3 may still write the object of an attempt that was given up. */
export async function watchForCopy(
  reservation: Reservation,
  { reservations, now }: Pick<ReleaseDependencies, 'reservations' | 'now'>,
  signal: AbortSignal,
): Promise<void> {
  await reservations.watch({ ...reservation, leaseExpiresAtMs: now() + LONGEST_COPY_MS }, signal)
}

/**
 * Ends an attempt whose document is recorded: marker first, then the reservation. Alone, a reservation whose marker may be
 * there would stand for bytes to be given back.
 */
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
  /** `unknown`: it may be open, or be opened yet. */
  reservation: 'none' | 'unknown' | 'open'
  copy: 'none' | 'unanswered' | 'answered'
  /** Whether the marker is gone, so that the reservation alone stands for the bytes. Never rejects. */
  unmarked: Promise<boolean>
}

/**
 * Undoes an attempt of our own after it failed. When that fails, too, it is logged, nothing more is tried, and what is left
 * stays marked or reserved: the resolver finishes the work once the lease has run out.
 *
 * @returns 'recorded' when the document turns out to be there: the answer of the record was lost, and the promotion is
 *   a success after all
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
      // Nothing goes on behind the back of what follows.
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
    log.error('undo failed, what is left is the resolver’s', {
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
  if (outcome === 'occupied') throw new Error('an opening of unknown outcome may arrive once another attempt has ended')
  return outcome === 'open'
}
