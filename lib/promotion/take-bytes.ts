import { ServiceError } from '../errors.ts'
import type { TakeOutcome, Taking, WorkspaceLedger } from '../ledger/ports/ledger.ts'
import type { AttemptRequest, PromotionDependencies } from './promotion.ts'

/** A promotion that does not get through to the ledger within this time is refused. */
const RETRY_FOR_MS = 6000

/** @returns the ledger that counts the bytes, or why they are not taken; after an error it may be unknown whether they are */
export async function takeBytes(
  taking: Taking,
  { deadline, telemetry, room }: Pick<AttemptRequest, 'deadline' | 'telemetry' | 'room'>,
  { ledger, admission }: Pick<PromotionDependencies, 'ledger' | 'admission'>,
): Promise<WorkspaceLedger | ServiceError> {
  const { workspaceId, sizeBytes } = taking
  const decision = admission.decide(workspaceId)
  const retryForMs = decision === 'retry' ? RETRY_FOR_MS : 0
  // A refusal counts as if the ledger had been asked.
  let taken: TakeOutcome = { outcome: 'crowded' }
  if (decision !== 'refuse') {
    taken = await telemetry.time('take', () => ledger.take(taking, deadline.signal, retryForMs))
  }
  admission.count(workspaceId, taken.outcome !== 'crowded')
  if (taken.outcome === 'crowded') {
    return new ServiceError('too_many_promotions', { retryAfterSeconds: admission.retryAfterSeconds(workspaceId) })
  }
  room.see(taken.ledger)
  return taken.outcome === 'taken' ? taken.ledger : room.refusal(taken.ledger, sizeBytes)
}
