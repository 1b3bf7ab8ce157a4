import type { Closing, DocumentRecords, ObjectStore, QuotaLedger } from './ports.ts'

/** The step an attempt had begun, and perhaps finished, when it ended. */
export type Step = 'reserve' | 'copy' | 'record'

export interface TakeBackDependencies {
  objects: ObjectStore
  ledger: QuotaLedger
  documents: DocumentRecords
}

/**
 * Takes back what an attempt did, newest first, so that no moment shows a document without bytes or bytes uncounted:
 * keeps its record out, removes its object, gives its bytes back. Every step may be repeated, by anybody, at any time.
 *
 * @param mayArriveLate S3 was left alone with a copy and may still finish it: somebody must look again later
 * @returns 'recorded' when the document turns out to be there: then nothing is taken back
 */
export async function takeBack(
  reservation: Closing,
  { reached, mayArriveLate }: { reached: Step; mayArriveLate: boolean },
  deps: TakeBackDependencies,
  signal: AbortSignal,
): Promise<'recorded' | 'taken_back'> {
  if (reached === 'record' && (await deps.documents.fence(reservation, signal)) === 'recorded') return 'recorded'
  if (reached !== 'reserve') await deps.objects.discard(reservation.objectKey, signal)
  if (mayArriveLate) await deps.ledger.releaseAndWatch(reservation, signal)
  else await deps.ledger.release(reservation, signal)
  return 'taken_back'
}
