import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import type { RequestScope } from '../request-scope.ts'
import type { Admission } from './admission.ts'
import { undoOrLeave } from './end-attempt.ts'
import type { TakeOutcome } from './quota-ledger.ts'
import type { Reservation } from './reservations.ts'
import { type ResolverDependencies, resolveWorkspace } from './resolve-workspace.ts'

export type ReserveDependencies = ResolverDependencies & { admission: Admission }

type Taken = Extract<TakeOutcome, { outcome: 'taken' }>

/** A promotion that has not got through to the ledger by then is refused. */
const PATIENCE_MS = 6000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1000
/** One request resolves at most this many: it has its own work to do. */
const MAX_RESOLVED = 10

/**
 * A promotion that is refused while reservations of dead processes stand in its way resolves these, without waiting for
 * the schedule, and tries once more.
 * @throws ServiceError storage_quota_exceeded, too_many_promotions
 */
export async function takeBytes(
  reservation: Reservation,
  scope: RequestScope,
  deps: ReserveDependencies,
): Promise<Taken> {
  const first = await takePatiently(reservation, scope, deps)
  if (first.outcome === 'taken') return first

  // Resolving would not help a crowded ledger: dead processes take no place in it.
  if (first.outcome === 'crowded' || !first.isDue) throw refusal(first, reservation, deps)

  await resolveWorkspace(reservation.workspaceId, { maxResolutions: MAX_RESOLVED }, deps, scope.deadline.signal)
  const second = await tryToTake(reservation, scope, deps)
  if (second.outcome === 'taken') return second
  throw refusal(second, reservation, deps)
}

/** A crowded or throttled ledger has certainly not taken the bytes: it is asked again, for a while. */
async function takePatiently(
  reservation: Reservation,
  scope: RequestScope,
  deps: ReserveDependencies,
): Promise<TakeOutcome> {
  const { workspaceId } = reservation
  const judgement = deps.admission.judge(workspaceId)
  let outcome: TakeOutcome = { outcome: 'crowded' }
  if (judgement !== 'refuse') {
    const impatientAtMs = deps.now() + (judgement === 'patient' ? PATIENCE_MS : 0)
    for (let tries = 1; ; tries++) {
      outcome = await tryToTake(reservation, scope, deps)
      if (outcome.outcome !== 'crowded' || deps.now() >= impatientAtMs) break
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)) * (0.5 + Math.random())
      if (!(await sleep(pauseMs, true, { signal: scope.deadline.signal }).catch(() => false))) break
    }
  }
  deps.admission.note(workspaceId, outcome.outcome !== 'crowded')
  return outcome
}

async function tryToTake(
  reservation: Reservation,
  scope: RequestScope,
  deps: ReserveDependencies,
): Promise<TakeOutcome> {
  try {
    return await scope.telemetry.time('reserve', () => deps.ledger.take(reservation, scope.deadline.signal))
  } catch (error) {
    // Unknown whether the bytes were taken: give them back if they were.
    await undoOrLeave(reservation, { reservation: 'none', copy: 'none', unmarked: Promise.resolve(false) }, scope, deps)
    throw error
  }
}

function refusal(
  refused: Exclude<TakeOutcome, { outcome: 'taken' }>,
  { workspaceId, sizeBytes }: Reservation,
  { admission }: ReserveDependencies,
): ServiceError {
  if (refused.outcome === 'crowded') {
    return new ServiceError('too_many_promotions', { retryAfterSeconds: admission.retryAfterSeconds(workspaceId) })
  }
  const { quotaBytes, usedBytes } = refused.usage
  return new ServiceError('storage_quota_exceeded', {
    metadata: { quota_bytes: quotaBytes, used_bytes: usedBytes, file_bytes: sizeBytes },
  })
}
