import { ServiceError } from '../errors.ts'
import type { QuotaLedger, TakenBytes, TakeOutcome } from '../ledger/ports/quota-ledger.ts'
import type { Attempt } from '../ledger/ports/reservations.ts'
import type { RequestScope } from '../telemetry.ts'
import type { Admission } from './admission.ts'

interface TakeDependencies {
  quota: QuotaLedger
  admission: Admission
}

/** A promotion that does not get through to the ledger within this time is refused. */
const RETRY_FOR_MS = 6000

/** @returns why the bytes are not taken; after an error it may be unknown whether they are */
export async function takeBytes(
  attempt: Attempt,
  { deadline, telemetry }: RequestScope,
  { quota, admission }: TakeDependencies,
): Promise<TakenBytes | ServiceError> {
  const decision = admission.decide(attempt.workspaceId)
  const retryForMs = decision === 'retry' ? RETRY_FOR_MS : 0
  const taken: TakeOutcome =
    decision === 'refuse'
      ? // As if the ledger had been asked.
        { outcome: 'crowded' }
      : await telemetry.time('take', () => quota.take(attempt, deadline.signal, retryForMs))
  admission.count(attempt.workspaceId, taken.outcome !== 'crowded')
  return taken.outcome === 'taken' ? taken : refusal(taken, attempt, admission)
}

function refusal(
  refused: Exclude<TakeOutcome, { outcome: 'taken' }>,
  { workspaceId, sizeBytes }: Attempt,
  admission: Admission,
): ServiceError {
  if (refused.outcome === 'crowded') {
    return new ServiceError('too_many_promotions', { retryAfterSeconds: admission.retryAfterSeconds(workspaceId) })
  }
  const { quotaBytes, usedBytes } = refused.usage
  return new ServiceError('storage_quota_exceeded', {
    metadata: { quota_bytes: quotaBytes, used_bytes: usedBytes, file_bytes: sizeBytes },
  })
}
