import { ServiceError } from '../errors.ts'
import { type Progress, settle, undo } from './end-attempt.ts'
import type { ReleaseDependencies } from './release-bytes.ts'
import type { OpenReservation, Reservation } from './reservations.ts'

/** A function lives 28 s (serverless.yml), and clocks may differ: what began earlier than this has no process any more. */
const LONGEST_LIFE_MS = 40_000

/**
 * Opens the reservation of bytes that were taken. An attempt at the same document that is provably dead is taken back first.
 *
 * @param progress told how far it got
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
  // Should this fail, what has been begun is the resolver's, which finds it by this attempt's marker.
  progress.reservation = 'unknown'
  // Its copy may be under way still, whatever became of its process.
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

/** The longer it has been going on, the longer it may go on; but once it must be dead, this request's repetition takes over. */
function inProgress(other: OpenReservation, { leaseMs, now }: ReleaseDependencies): ServiceError {
  const age = ageMs(other, leaseMs, now())
  const endsInMs = other.purpose === 'fence' ? other.leaseExpiresAtMs - now() : Math.min(age, LONGEST_LIFE_MS - age)
  return new ServiceError('promotion_in_progress', { retryAfterSeconds: Math.max(1, Math.ceil(endsInMs / 1000)) })
}

function ageMs({ leaseExpiresAtMs }: OpenReservation, leaseMs: number, nowMs: number): number {
  return nowMs - (leaseExpiresAtMs - leaseMs)
}
