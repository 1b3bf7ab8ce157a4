import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import type { RequestScope } from '../request-scope.ts'
import type { Admission } from './admission.ts'
import type { Progress } from './end-attempt.ts'
import type { QuotaLedger, TakenBytes, TakeOutcome } from './quota-ledger.ts'
import type { Reservation } from './reservations.ts'

interface TakeDependencies {
  ledger: QuotaLedger
  admission: Admission
  now(): number
}

/** A promotion that has not got through to the ledger by then is refused. */
const PATIENCE_MS = 6000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1000

/**
 * @param progress updated: after an error it may be unknown whether the bytes are taken
 * @throws ServiceError storage_quota_exceeded, too_many_promotions
 */
export async function takeBytes(
  reservation: Reservation,
  progress: Progress,
  scope: RequestScope,
  deps: TakeDependencies,
): Promise<TakenBytes> {
  progress.isTaken = true
  const taken = await takePatiently(reservation, scope, deps)
  if (taken.outcome === 'taken') return taken
  progress.isTaken = false
  throw refusal(taken, reservation, deps)
}

/** A crowded or throttled ledger has certainly not taken the bytes: it is asked again, for a while. */
async function takePatiently(
  reservation: Reservation,
  scope: RequestScope,
  deps: TakeDependencies,
): Promise<TakeOutcome> {
  const { workspaceId } = reservation
  const judgement = deps.admission.judge(workspaceId)
  let outcome: TakeOutcome = { outcome: 'crowded' }
  if (judgement !== 'refuse') {
    const impatientAtMs = deps.now() + (judgement === 'patient' ? PATIENCE_MS : 0)
    for (let tries = 1; ; tries++) {
      outcome = await scope.telemetry.time('reserve', () => deps.ledger.take(reservation, scope.deadline.signal))
      if (outcome.outcome !== 'crowded' || deps.now() >= impatientAtMs) break
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)) * (0.5 + Math.random())
      if (!(await sleep(pauseMs, true, { signal: scope.deadline.signal }).catch(() => false))) break
    }
  }
  deps.admission.note(workspaceId, outcome.outcome !== 'crowded')
  return outcome
}

function refusal(
  refused: Exclude<TakeOutcome, { outcome: 'taken' }>,
  { workspaceId, sizeBytes }: Reservation,
  { admission }: TakeDependencies,
): ServiceError {
  if (refused.outcome === 'crowded') {
    return new ServiceError('too_many_promotions', { retryAfterSeconds: admission.retryAfterSeconds(workspaceId) })
  }
  const { quotaBytes, usedBytes } = refused.usage
  return new ServiceError('storage_quota_exceeded', {
    metadata: { quota_bytes: quotaBytes, used_bytes: usedBytes, file_bytes: sizeBytes },
  })
}
