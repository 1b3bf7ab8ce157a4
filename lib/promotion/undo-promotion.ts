import type { Log } from '../logging.ts'
import type { DocumentRecords, ObjectStore, QuotaLedger, Reservation } from './ports.ts'

/** The step an attempt had begun, and perhaps finished, when it failed. */
export type Step = 'reserve' | 'copy' | 'record'

interface UndoDependencies {
  objects: ObjectStore
  ledger: QuotaLedger
  documents: DocumentRecords
  log: Log
}

/**
 * Takes back what an attempt did, newest first, so that no moment shows a document without bytes or bytes uncounted.
 * A failed undo is logged and nothing after it is tried: the reservation stays, and the resolver finishes the work once
 * its lease has run out.
 *
 * @returns 'recorded' when the document turns out to be there: the answer of the record was lost, and the promotion is
 *   a success after all
 */
export async function undoPromotion(
  reservation: Reservation,
  reached: Step,
  deps: UndoDependencies,
  signal: AbortSignal,
): Promise<'recorded' | 'undone' | 'left_to_resolver'> {
  try {
    if (reached === 'record' && (await deps.documents.fence(reservation, signal)) === 'recorded') return 'recorded'
    if (reached !== 'reserve') await deps.objects.discard(reservation.objectKey, signal)
    await deps.ledger.release(reservation, signal)
    return 'undone'
  } catch (error) {
    deps.log.error('undo failed, the reservation is left to the resolver', { reached, error })
    return 'left_to_resolver'
  }
}
