import { ServiceError } from '../../../lib/errors.ts'
import type { Progress } from '../../../lib/promotion/end-attempt.ts'
import { openReservation } from '../../../lib/promotion/open-reservation.ts'
import type { Reservation } from '../../../lib/promotion/reservations.ts'
import type { Ports } from '../ports.ts'

const { signal } = new AbortController()
/** Of a call whose outcome nobody knows. */
export const LOST = new ServiceError('service_unavailable', { isUnanswered: true })
/** Nothing lives longer. */
export const DEAD_AFTER_MS = 40_000

export const newProgress = (): Progress => ({ reservation: 'none', copy: 'none', unmarked: Promise.resolve(false) })
export const open = async (ports: Ports, one: Reservation, progress = newProgress()) => {
  const error = await openReservation(one, progress, ports.deps, signal).then(
    () => undefined,
    (reason) => reason,
  )
  return { progress, error }
}
/** An attempt at the same document, begun now. */
export const twinOf = (ports: Ports, { documentId }: Reservation) => ports.run(['take'], ports.begin({ documentId }))
export const rows = ({ reservations }: Ports) =>
  [...reservations.items.values()].map(({ purpose, attemptId }) => [purpose, attemptId])
