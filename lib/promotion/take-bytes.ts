import { ServiceError } from '../errors.ts'
import type { TakenBytes, TakeOutcome } from '../ledger/ports/quota-ledger.ts'
import type { Attempt } from '../ledger/ports/reservations.ts'
import type { RequestScope } from '../telemetry.ts'
import type { PromotionDependencies } from './promotion.ts'

type TakeDependencies = Pick<PromotionDependencies, 'quota' | 'admission' | 'expiries' | 'now'>

/** A promotion that does not get through to the ledger within this time is refused. */
const RETRY_FOR_MS = 6000
/** The bytes of an expired document are given back within this time (docs/clients.md). */
const DELETED_WITHIN_MS = 120_000
/** Room that comes later than this is not announced. */
const LONGEST_RETRY_MS = 3_600_000

/** @returns why the bytes are not taken; after an error it may be unknown whether they are */
export async function takeBytes(
  attempt: Attempt,
  request: RequestScope,
  deps: TakeDependencies,
): Promise<TakenBytes | ServiceError> {
  const { deadline, telemetry } = request
  const { quota, admission } = deps
  const decision = admission.decide(attempt.workspaceId)
  const retryForMs = decision === 'retry' ? RETRY_FOR_MS : 0
  const taken: TakeOutcome =
    decision === 'refuse'
      ? // As if the ledger had been asked.
        { outcome: 'crowded' }
      : await telemetry.time('take', () => quota.take(attempt, deadline.signal, retryForMs))
  admission.count(attempt.workspaceId, taken.outcome !== 'crowded')
  if (taken.outcome === 'taken') return taken
  if (taken.outcome === 'crowded') {
    const retryAfterSeconds = admission.retryAfterSeconds(attempt.workspaceId)
    return new ServiceError('too_many_promotions', { retryAfterSeconds })
  }
  const { quotaBytes, usedBytes } = taken.usage
  const metadata = { quota_bytes: quotaBytes, used_bytes: usedBytes, file_bytes: attempt.sizeBytes }
  const mayFit = attempt.sizeBytes <= quotaBytes
  const freesBytesAtMs = mayFit ? await whenRoomComes(attempt, request, deps) : undefined
  if (freesBytesAtMs === undefined) return new ServiceError('storage_quota_exceeded', { metadata })
  return new ServiceError('storage_quota_exceeded', {
    metadata: { ...metadata, frees_bytes_at: new Date(freesBytesAtMs).toISOString() },
    retryAfterSeconds: Math.ceil((freesBytesAtMs - deps.now()) / 1000),
  })
}

/** When the bytes of the next document to expire are given back, if that is known. */
async function whenRoomComes(
  { workspaceId }: Attempt,
  { deadline, log }: RequestScope,
  { expiries, now }: TakeDependencies,
): Promise<number | undefined> {
  const byMs = now() + LONGEST_RETRY_MS - DELETED_WITHIN_MS
  try {
    const next = await expiries.nextExpiry(workspaceId, byMs, deadline.signal)
    return next && Math.max(next.getTime(), now()) + DELETED_WITHIN_MS
  } catch (error) {
    log.warn('next expiry not read, refusal answered without it', { error })
    return undefined
  }
}
