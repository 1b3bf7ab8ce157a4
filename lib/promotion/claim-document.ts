import { ServiceError } from '../errors.ts'
import type { LedgerDependencies } from '../ledger/dependencies.ts'
import { settle, undoReserved, untilCopyEnds } from '../ledger/end-attempt.ts'
import type { Attempt, ReservationItem } from '../ledger/ports/reservations.ts'

/** A function lives for 28 s (infra/deploy/functions.ts), and clocks differ: an attempt this old has no process. */
export const LONGEST_LIFE_MS = 40_000

/**
 * Keeps twins (attempts at the same document) out before any bytes are taken. Ends another attempt first, if it
 * certainly has no process any more.
 * @returns promotion_in_progress while another attempt at the same document may be running; after an error, the claim
 *   may be there
 */
export async function claimDocument(
  attempt: Attempt,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<ServiceError | undefined> {
  const { reservations } = deps
  const other = await reservations.claim(attempt, signal)
  if (other === undefined) return undefined
  if (!mayBeReplaced(other, deps)) return inProgress(other, deps)

  if (other.purpose === 'promotion') {
    // Its copy may still be running, although its process is dead.
    const outcome = await undoReserved(other, { hasLateCopy: true }, deps, signal)
    if (outcome === 'recorded') await settle(other, deps, signal)
  } else {
    // It may have begun to copy. If it had taken its bytes, the resolver finds their marker.
    await reservations.note('late_copy', untilCopyEnds(other, deps), signal)
  }
  // Without its claim it can no longer reserve.
  const another = await reservations.claim(attempt, signal, other)
  return another && inProgress(another, deps)
}

/** One whose bytes were handed over is left to its release. */
function mayBeReplaced(other: ReservationItem, { leaseMs, now }: LedgerDependencies): boolean {
  return !other.releasedBy && ageMs(other, leaseMs, now()) >= LONGEST_LIFE_MS
}

/** Retry-After is its age or, if shorter, the time until it certainly has no process: a repetition then replaces it. */
function inProgress(other: ReservationItem, { leaseMs, now }: LedgerDependencies): ServiceError {
  const age = ageMs(other, leaseMs, now())
  const waitMs = Math.min(age, LONGEST_LIFE_MS - age)
  return new ServiceError('promotion_in_progress', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) })
}

function ageMs({ leaseExpiresAtMs }: ReservationItem, leaseMs: number, nowMs: number): number {
  return nowMs - (leaseExpiresAtMs - leaseMs)
}
