import { ServiceError } from '../errors.ts'
import type { Journal } from '../journal.ts'
import type { Log } from '../logging.ts'
import type { Deadline } from './deadline.ts'
import type { Reservation } from './ports.ts'
import { type Step, type TakeBackDependencies, takeBack } from './take-back.ts'

export interface Progress {
  reached: Step
  /** A copy was sent more than once, and one of these may still write the object. */
  mayArriveLate: boolean
}

/**
 * Takes an attempt of our own back after it failed with `cause`. When that fails, too, it is logged, nothing more is
 * tried, and the reservation stays: the resolver finishes the work once its lease has run out.
 *
 * @returns 'recorded' when the document turns out to be there: the answer of the record was lost, and the promotion is
 *   a success after all
 */
export async function undo(
  reservation: Reservation,
  { reached, mayArriveLate }: Progress,
  cause: unknown,
  { deadline, log, journal }: { deadline: Deadline; log: Log; journal: Journal },
  deps: TakeBackDependencies,
): Promise<'recorded' | 'taken_back' | 'left_to_resolver'> {
  try {
    const isCopyUnanswered = reached === 'copy' && cause instanceof ServiceError && cause.isUnanswered
    const progress = { reached, mayArriveLate: mayArriveLate || isCopyUnanswered }
    return await journal.time('undo', () => takeBack(reservation, progress, deps, deadline.undoSignal()))
  } catch (error) {
    log.error('undo failed, the reservation is left to the resolver', {
      document_id: reservation.documentId,
      attempt_id: reservation.attemptId,
      reached,
      error,
    })
    return 'left_to_resolver'
  }
}
