import type { Reservation } from './ports.ts'
import { type ReleaseDependencies, releaseBytes } from './release-bytes.ts'

/**
 * Ends an attempt whose reservation is open: keeps its record out, removes its object, gives its bytes back, so that no
 * moment shows a document without bytes or bytes uncounted. May be repeated, by anybody, at any time.
 *
 * @returns 'recorded' when the document turns out to be there: then the reservation is settled, and nothing taken back
 */
export async function takeBack(
  reservation: Reservation,
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<'recorded' | 'taken_back'> {
  // From here on the reservation alone stands for the bytes.
  await deps.ledger.unmark(reservation, signal)
  if ((await deps.documents.fence(reservation, signal)) === 'recorded') {
    await deps.reservations.remove(reservation, signal)
    return 'recorded'
  }
  await deps.objects.discard(reservation.objectKey, signal)
  await releaseBytes(reservation, 'undo', deps, signal)
  return 'taken_back'
}
