import { ServiceError } from '../errors.ts'
import { type Progress, settle, undo } from './end-attempt.ts'
import type { ReleaseDependencies } from './release-bytes.ts'
import type { OpenReservation, Reservation } from './reservations.ts'

/** A function lives 28 s (serverless.yml), and clocks differ: nothing that began earlier still has a process. */
const LONGEST_LIFE_MS = 40_000

/**
 * Takes back another attempt at the same document first, if it is provably dead.
 * @param progress updated as it goes
 * @throws ServiceError promotion_in_progress while another attempt at the same document may be alive
 */
export async function openReservation(
  reservation: Reservation,
  progress: Progress,
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<void> {
  const other = await tryToOpen(reservation, progress, deps, signal)
  if (other === undefined) return
  if (!isDead(other, deps)) throw inProgress(other, deps)
  // If this fails, the resolver finds what was begun by this attempt's marker.
  progress.reservation = 'unknown'
  // Its copy may still be running, although its process is dead.
  const outcome = await undo(other, { mayCopyArrive: true }, deps, signal)
  if (outcome === 'recorded') await settle(other, deps, signal)
  progress.reservation = 'none'
  const another = await tryToOpen(reservation, progress, deps, signal)
  if (another !== undefined) throw inProgress(another, deps)
}

/** @returns the reservation that is in the way */
async function tryToOpen(
  reservation: Reservation,
  progress: Progress,
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<OpenReservation | undefined> {
  try {
    const opened = await deps.reservations.open(reservation, signal)
    if (opened.outcome === 'in_progress') return opened.other
    progress.reservation = 'open'
    return undefined
  } catch (error) {
    progress.reservation = 'unknown'
    throw error
  }
}

function isDead(other: OpenReservation, { leaseMs, now }: ReleaseDependencies): boolean {
  return other.purpose === 'promotion' && !other.closedBy && ageMs(other, leaseMs, now()) >= LONGEST_LIFE_MS
}

/**
 * Retry-After is its age, or the time until it must be dead if that is shorter; then the next repetition takes over.
 */
function inProgress(other: OpenReservation, { leaseMs, now }: ReleaseDependencies): ServiceError {
  const age = ageMs(other, leaseMs, now())
  const endsInMs = other.purpose === 'fence' ? other.leaseExpiresAtMs - now() : Math.min(age, LONGEST_LIFE_MS - age)
  return new ServiceError('promotion_in_progress', { retryAfterSeconds: Math.max(1, Math.ceil(endsInMs / 1000)) })
}

function ageMs({ leaseExpiresAtMs }: OpenReservation, leaseMs: number, nowMs: number): number {
  return nowMs - (leaseExpiresAtMs - leaseMs)
}
