import { ServiceError } from '../errors.ts'
import type { Journal } from '../journal.ts'
import type { Log } from '../logging.ts'
import type { Deadline } from './deadline.ts'
import type { OpenReservation, Reservation, ReserveOutcome } from './ports.ts'
import { isExpired, resolveReservation } from './resolve-reservation.ts'
import type { TakeBackDependencies } from './take-back.ts'
import { undo } from './undo.ts'

interface ReserveContext {
  deadline: Deadline
  log: Log
  journal: Journal
}

type Reserved = Extract<ReserveOutcome, { outcome: 'reserved' }>
type ReserveDependencies = TakeBackDependencies & { now(): number }

/** Resolved by one request at most: it has its own work to do. */
const MAX_RESOLVED = 10

/**
 * Takes the bytes out of the workspace's quota. A request that is refused while reservations of dead processes stand
 * around resolves these, without waiting for the schedule, and tries once more.
 *
 * @throws ServiceError storage_quota_exceeded, too_many_promotions, promotion_in_progress
 */
export async function reserveBytes(
  reservation: Reservation,
  context: ReserveContext,
  deps: ReserveDependencies,
): Promise<Reserved> {
  const first = await tryReserve(reservation, context, deps)
  if (first.outcome === 'reserved') return first
  const expired = first.open.filter((open) => isExpired(open, deps.now()))
  if (expired.length === 0) throw refusal(first, reservation)
  await resolveAll(expired.slice(0, MAX_RESOLVED), context, deps)
  const second = await tryReserve(reservation, context, deps)
  if (second.outcome === 'reserved') return { ...second, mayRepeat: first.mayRepeat || second.mayRepeat }
  throw refusal(second, reservation)
}

async function tryReserve(
  reservation: Reservation,
  context: ReserveContext,
  deps: ReserveDependencies,
): Promise<ReserveOutcome> {
  try {
    return await context.journal.time('reserve', () => deps.ledger.reserve(reservation, context.deadline.signal))
  } catch (error) {
    // Whether the bytes were taken is unknown: give them back if they were.
    await undo(reservation, { reached: 'reserve', mayArriveLate: false }, error, context, deps)
    throw error
  }
}

async function resolveAll(
  expired: OpenReservation[],
  { deadline, log }: ReserveContext,
  deps: ReserveDependencies,
): Promise<void> {
  await Promise.all(
    expired.map((reservation) =>
      resolveReservation(reservation, deps, deadline.signal).catch((error) =>
        log.warn('expired reservation not resolved, left to the resolver', {
          document_id: reservation.documentId,
          error,
        }),
      ),
    ),
  )
}

function refusal(refused: Exclude<ReserveOutcome, Reserved>, { sizeBytes }: Reservation): ServiceError {
  switch (refused.outcome) {
    case 'quota_exceeded':
      return new ServiceError('storage_quota_exceeded', {
        metadata: {
          quota_bytes: refused.usage.quotaBytes,
          used_bytes: refused.usage.usedBytes,
          file_bytes: sizeBytes,
        },
      })
    case 'too_many_reservations':
      return new ServiceError('too_many_promotions')
    case 'in_progress':
      return new ServiceError('promotion_in_progress')
  }
}
