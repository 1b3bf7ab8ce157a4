import type { Closing, OpenReservation } from './ports.ts'
import { type TakeBackDependencies, takeBack } from './take-back.ts'

export type Resolution = 'settled' | 'released'

/**
 * Finishes what somebody else began and did not end, whatever that was: for reservations whose lease has run out. Safe
 * to run twice at once, and beside an owner that wakes up late.
 */
export async function resolveReservation(
  reservation: OpenReservation & Closing,
  deps: TakeBackDependencies,
  signal: AbortSignal,
): Promise<Resolution> {
  switch (reservation.purpose) {
    case 'promotion': {
      const outcome = await takeBack(reservation, { reached: 'record', mayArriveLate: false }, deps, signal)
      if (outcome === 'taken_back') return 'released'
      break
    }
    case 'deletion':
      if ((await deps.documents.retire(reservation, signal)) === 'retired') {
        await takeBack(reservation, { reached: 'copy', mayArriveLate: false }, deps, signal)
        return 'released'
      }
      break
    case 'late_copy':
      await deps.objects.discard(reservation.objectKey, signal)
      break
    case 'closed':
      break
  }
  await deps.ledger.settle(reservation, signal)
  return 'settled'
}

/** Whether nobody works on the reservation any more. */
export function isExpired(reservation: OpenReservation, nowMs: number): boolean {
  return reservation.leaseExpiresAtMs <= nowMs
}
