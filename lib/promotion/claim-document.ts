import { ServiceError } from '../errors.ts'
import { lateCopyOf, type Progress, settle, undo } from './end-attempt.ts'
import type { ReleaseDependencies } from './release-bytes.ts'
import type { OpenReservation, Reservation } from './reservations.ts'

/** A function lives 28 s (serverless.yml), and clocks differ: nothing that began earlier still has a process. */
const LONGEST_LIFE_MS = 40_000

/**
 * Keeps twins (attempts at the same document) out before any bytes are taken. Takes back another attempt first, if it
 * is provably dead.
 * @param progress updated as it goes
 * @throws ServiceError promotion_in_progress while another attempt at the same document may be alive
 */
export async function claimDocument(
  reservation: Reservation,
  progress: Progress,
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<void> {
  const other = await tryToClaim(reservation, undefined, progress, deps, signal)
  if (other === undefined) return
  if (!isDead(other, deps)) throw inProgress(other, deps)
  if (other.purpose === 'promotion') {
    // Its copy may still be running, although its process is dead.
    const outcome = await undo(other, { mayCopyArrive: true }, deps, signal)
    if (outcome === 'recorded') await settle(other, deps, signal)
  } else {
    // It may have begun to copy. If it had taken its bytes, the resolver finds their marker.
    await deps.reservations.note('late_copy', lateCopyOf(other, deps), signal)
  }
  // Without its claim it can no longer open a reservation.
  const another = await tryToClaim(reservation, other, progress, deps, signal)
  if (another !== undefined) throw inProgress(another, deps)
}

async function tryToClaim(
  reservation: Reservation,
  dead: OpenReservation | undefined,
  progress: Progress,
  { reservations }: ReleaseDependencies,
  signal: AbortSignal,
): Promise<OpenReservation | undefined> {
  // After an error, too: it may be there.
  progress.reservation = 'claimed'
  const other = await reservations.claim(reservation, signal, dead)
  if (other !== undefined) progress.reservation = 'none'
  return other
}

function isDead(other: OpenReservation, { leaseMs, now }: ReleaseDependencies): boolean {
  return !other.closedBy && ageMs(other, leaseMs, now()) >= LONGEST_LIFE_MS
}

/**
 * Retry-After is its age, or the time until it must be dead if that is shorter; then the next repetition takes over.
 */
function inProgress(other: OpenReservation, { leaseMs, now }: ReleaseDependencies): ServiceError {
  const age = ageMs(other, leaseMs, now())
  const endsInMs = Math.min(age, LONGEST_LIFE_MS - age)
  return new ServiceError('promotion_in_progress', { retryAfterSeconds: Math.max(1, Math.ceil(endsInMs / 1000)) })
}

function ageMs({ leaseExpiresAtMs }: OpenReservation, leaseMs: number, nowMs: number): number {
  return nowMs - (leaseExpiresAtMs - leaseMs)
}
