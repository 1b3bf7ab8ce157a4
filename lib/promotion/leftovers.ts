import { type AttemptId, documentIdOfAttempt } from '../ids.ts'
import { completeDeletion } from './delete-document.ts'
import { lateCopyOf, settle, undo } from './end-attempt.ts'
import type { Taking } from './quota-ledger.ts'
import { completeRelease } from './release-bytes.ts'
import type { MarkedRelease, OpenReservation, Reservation } from './reservations.ts'
import type { ResolverDependencies } from './resolve-workspace.ts'

export type Resolution = 'settled' | 'released'

/**
 * Something that a process began and did not finish, as shown by the ledger and the reservations. Resolving it does no
 * harm if the process still lives after all: each step either succeeds for one of the two only, or may be repeated.
 */
export interface Leftover {
  what: 'taking' | 'release' | 'reservation'
  subject: { attemptId: AttemptId; leaseExpiresAtMs: number }
  resolve(signal: AbortSignal): Promise<Resolution>
}

/** A process died between taking the bytes and removing the marker. */
export function takingLeftover(taking: Taking, deps: ResolverDependencies): Leftover {
  return {
    what: 'taking',
    subject: taking,
    async resolve(signal) {
      const existing = await reservationOf(taking, deps, signal)
      if (existing?.purpose === 'promotion') {
        await deps.ledger.unmark(taking, signal)
        return 'settled'
      }
      return resolveUnopened(existing ?? withoutReservation(taking, deps), taking, deps, signal)
    },
  }
}

/**
 * Read after the taking was seen: a claim is there from before the bytes are taken until the reservation is opened in
 * its place.
 */
async function reservationOf(
  { workspaceId, attemptId }: Taking,
  { reservations }: ResolverDependencies,
  signal: AbortSignal,
): Promise<OpenReservation | undefined> {
  for await (const each of reservations.list(workspaceId, signal)) {
    const isItsOwn = each.attemptId === attemptId && (each.purpose === 'promotion' || each.purpose === 'claim')
    if (isItsOwn) return each
  }
  return undefined
}

/** An attempt without an Idempotency-Key has its document id from the attempt; one with a key can open nothing any more. */
function withoutReservation(taking: Taking, { objectKeys }: ResolverDependencies): Reservation {
  const { workspaceId, attemptId } = taking
  const documentId = documentIdOfAttempt(attemptId)
  return { ...taking, documentId, objectKey: objectKeys.documentObject({ workspaceId, documentId, attemptId }) }
}

async function resolveUnopened(
  attempt: Reservation | OpenReservation,
  taking: Taking,
  deps: ResolverDependencies,
  signal: AbortSignal,
): Promise<Resolution> {
  const isClaimed = 'purpose' in attempt
  const lateCopy = lateCopyOf(attempt, deps)
  // The document may be there all the same: the process may live, or the ledger be restored from a backup.
  const isRecorded = (await deps.documents.fence(attempt, signal)) === 'recorded'
  // The claim tells the key of the object, so the note comes before it goes.
  if (isClaimed && !isRecorded) await deps.reservations.note('late_copy', lateCopy, signal)
  const isOpen = isRecorded || (await deps.reservations.forestall(lateCopy, isClaimed, signal)) === 'open'
  if (isOpen) {
    await deps.ledger.unmark(taking, signal)
    return 'settled'
  }
  await deps.ledger.release(taking, signal)
  await deps.objects.discard(attempt.objectKey, signal)
  return 'released'
}

/** A process died while giving bytes back. */
export function releaseLeftover(release: MarkedRelease, deps: ResolverDependencies): Leftover {
  return {
    what: 'release',
    subject: release,
    async resolve(signal) {
      return (await completeRelease(release, deps, signal)) === undefined ? 'settled' : 'released'
    },
  }
}

/** The attempt may live after all, and its document may be there. */
async function discardUnlessRecorded(
  attempt: Reservation,
  { documents, objects }: ResolverDependencies,
  signal: AbortSignal,
): Promise<void> {
  if ((await documents.fence(attempt, signal)) === 'recorded') return
  await objects.discard(attempt.objectKey, signal)
}

/** One that failed before the document was retired is not carried out later: who asked for it was told so. */
async function resolveDeletion(
  deletion: OpenReservation,
  deps: ResolverDependencies,
  signal: AbortSignal,
): Promise<Resolution> {
  const { workspaceId, documentId } = deletion
  if ((await deps.documents.find(workspaceId, documentId, signal)) !== undefined) {
    await deps.reservations.removeNote('deletion', deletion, signal)
    return 'settled'
  }
  return (await completeDeletion(deletion, deps, signal)) === undefined ? 'settled' : 'released'
}

/** A reservation, claim or note that nobody has removed. */
export function reservationLeftover(reservation: OpenReservation, deps: ResolverDependencies): Leftover {
  const { purpose, closedBy } = reservation
  return {
    what: 'reservation',
    subject: reservation,
    async resolve(signal) {
      if (purpose === 'promotion' && closedBy === undefined) {
        if ((await undo(reservation, { mayCopyArrive: true }, deps, signal)) === 'undone') return 'released'
        await settle(reservation, deps, signal)
      } else if (purpose === 'promotion') {
        // The release's marker is written before the reservation is closed, and removed once the bytes were given back.
        // It is gone, so they were.
        await deps.reservations.remove(reservation, signal)
      } else if (purpose === 'deletion') {
        return resolveDeletion(reservation, deps, signal)
      } else if (purpose === 'claim') {
        await deps.reservations.forestall(reservation, true, signal)
      } else {
        await discardUnlessRecorded(reservation, deps, signal)
        if (purpose === 'forestalled') await deps.reservations.remove(reservation, signal)
        else await deps.reservations.removeNote(purpose, reservation, signal)
      }
      return 'settled'
    },
  }
}
