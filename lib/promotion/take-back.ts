import type { Reservation } from './ports.ts'
import { type ReleaseDependencies, releaseBytes } from './release-bytes.ts'

/** Completing an upload "could take several minutes" (S3 API, CompleteMultipartUpload), whatever becomes of its caller. */
const LONGEST_COPY_MS = 15 * 60 * 1000

/**
 * Ends an attempt whose reservation is open: keeps its record out, removes its object, gives its bytes back, so that no
 * moment shows a document without bytes or bytes uncounted. May be repeated, by anybody, at any time.
 *
 * @param mayCopyArrive S3 was left alone with a copy and may still finish it: somebody must look again later
 * @returns 'recorded' when the document turns out to be there: then nothing is taken back, and it is to be settled
 */
export async function takeBack(
  reservation: Reservation,
  { mayCopyArrive }: { mayCopyArrive: boolean },
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<'recorded' | 'taken_back'> {
  if ((await deps.documents.fence(reservation, signal)) === 'recorded') return 'recorded'
  // Not before the fence: a watch deletes the object, and the document might turn out to be there.
  if (mayCopyArrive) await watchForCopy(reservation, deps, signal)
  // From here on the reservation alone stands for the bytes.
  await deps.ledger.unmark(reservation, signal)
  await deps.objects.discard(reservation.objectKey, signal)
  await releaseBytes(reservation, 'undo', deps, signal)
  return 'taken_back'
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
