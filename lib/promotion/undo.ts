import type { Journal } from '../journal.ts'
import type { Log } from '../logging.ts'
import type { Deadline } from './deadline.ts'
import type { Reservation } from './ports.ts'
import type { ReleaseDependencies } from './release-bytes.ts'
import { takeBack, watchForCopy } from './take-back.ts'

/** How far an attempt got before it failed. */
export interface Progress {
  /** `unknown`: it may be open, or be opened yet. */
  reservation: 'none' | 'unknown' | 'open'
  copy: 'none' | 'unanswered' | 'answered'
  /** Whether the marker is gone, so that the reservation alone stands for the bytes. Never rejects. */
  unmarked: Promise<boolean>
}

/**
 * Takes an attempt of our own back after it failed. When that fails, too, it is logged, nothing more is tried, and what is
 * left stays marked or reserved: the resolver finishes the work once the lease has run out.
 *
 * @returns 'recorded' when the document turns out to be there: the answer of the record was lost, and the promotion is
 *   a success after all
 */
export async function undo(
  reservation: Reservation,
  progress: Progress,
  { deadline, log, journal }: { deadline: Deadline; log: Log; journal: Journal },
  deps: ReleaseDependencies,
): Promise<'recorded' | 'taken_back' | 'left_to_resolver'> {
  const signal = deadline.undoSignal()
  try {
    return await journal.time('undo', async () => {
      // Nothing goes on behind the back of what follows.
      await progress.unmarked
      const mayCopyArrive = progress.copy === 'unanswered'
      if (await isOpen(reservation, progress, deps, signal)) {
        return takeBack(reservation, { mayCopyArrive }, deps, signal)
      }
      if (mayCopyArrive) await watchForCopy(reservation, deps, signal)
      if (progress.copy !== 'none') await deps.objects.discard(reservation.objectKey, signal)
      await deps.ledger.release(reservation, signal)
      return 'taken_back'
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
