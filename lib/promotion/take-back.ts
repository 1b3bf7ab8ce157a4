import type { Reservation } from './ports.ts'
import { type ReleaseDependencies, releaseBytes } from './release-bytes.ts'

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
  if (mayCopyArrive) {
    await deps.reservations.watch({ ...reservation, leaseExpiresAtMs: deps.now() + deps.leaseMs }, signal)
  }
  // From here on the reservation alone stands for the bytes.
  await deps.ledger.unmark(reservation, signal)
  await deps.objects.discard(reservation.objectKey, signal)
  await releaseBytes(reservation, 'undo', deps, signal)
  return 'taken_back'
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
