import { ServiceError } from '../../../lib/errors.ts'
import { claimDocument } from '../../../lib/promotion/claim-document.ts'
import type { Progress } from '../../../lib/promotion/end-attempt.ts'
import type { Reservation } from '../../../lib/promotion/reservations.ts'
import type { Ports } from '../ports.ts'

const { signal } = new AbortController()
/** Of a call whose outcome nobody knows. */
export const LOST = new ServiceError('service_unavailable', { isUnanswered: true })
/** Nothing lives longer. */
export const DEAD_AFTER_MS = 40_000

const begun = (): Progress => ({
  isTaken: false,
  reservation: 'none',
  copy: 'none',
  unmarked: Promise.resolve(false),
})

/** @returns why it was not claimed */
export const claim = ({ deps }: Ports, one: Reservation, progress = begun()): Promise<unknown> =>
  claimDocument(one, progress, deps, signal).then(
    () => undefined,
    (reason) => reason,
  )
/** An attempt at the same document, begun now. */
export const twinOf = (ports: Ports, { documentId }: Reservation) => ports.begin({ documentId })
export const rows = ({ reservations }: Ports) =>
  [...reservations.items.values()].map(({ purpose, attemptId }) => [purpose, attemptId])
