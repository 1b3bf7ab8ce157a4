import { type AttemptId, documentIdOfAttempt } from '../ids.ts'
import { completeDeletion } from './delete-document.ts'
import type { ResolverDependencies } from './dependencies.ts'
import { settle, undoReserved, untilCopyEnds } from './end-attempt.ts'
import type { Taking } from './ports/quota-ledger.ts'
import type { Attempt, MarkedRelease, Release, ReservationItem, ReservationPurpose } from './ports/reservations.ts'
import type { WorkspaceLedger } from './ports/workspace-ledgers.ts'
import { completeRelease } from './release-bytes.ts'

/** `gaveBack`: bytes were given back; `ended`: the leftover is gone, and no bytes were given back. */
type Resolution = 'ended' | 'gaveBack'

/**
 * Something that a process began and did not finish, as shown by the ledger and the reservations. Resolving it is
 * harmless even if that process is still running: each step either succeeds for only one of the two, or may be repeated.
 */
export interface Leftover {
  what: 'taking' | Release['cause'] | ReservationPurpose
  subject: { attemptId: AttemptId; leaseExpiresAtMs: number }
  resolve(signal: AbortSignal): Promise<Resolution>
}

/**
 * Finds the leftovers. Those with a marker come first, one kind at a time: once its marker is gone, a reservation can
 * be resolved like any other.
 * @param isOver whether a lease has ended
 */
export function findLeftovers(
  { takings, releases }: Pick<WorkspaceLedger, 'takings' | 'releases'>,
  reservations: ReservationItem[],
  isOver: (each: { leaseExpiresAtMs: number }) => boolean,
  deps: ResolverDependencies,
): Leftover[][] {
  // A reservation whose bytes a release in the ledger gives back is left to that release, and a claim to its taking.
  const isLeftToMarker = ({ attemptId, purpose }: ReservationItem) =>
    (purpose === 'promotion' && releases.some((release) => release.attemptId === attemptId)) ||
    (purpose === 'claim' && takings.some((taking) => taking.attemptId === attemptId))
  return [
    takings.filter(isOver).map((subject) => ({
      what: 'taking',
      subject,
      resolve: (signal) => resolveTaking(subject, deps, signal),
    })),
    releases.filter(isOver).map((subject) => ({
      what: subject.cause,
      subject,
      resolve: (signal) => resolveRelease(subject, deps, signal),
    })),
    reservations
      .filter((each) => isOver(each) && !isLeftToMarker(each))
      .map((subject) => ({
        what: subject.purpose,
        subject,
        resolve: (signal) => RESOLVE[subject.purpose](subject, deps, signal),
      })),
  ]
}

/** A process died between taking the bytes and removing the marker. */
async function resolveTaking(taking: Taking, deps: ResolverDependencies, signal: AbortSignal): Promise<Resolution> {
  const { quota, reservations, documents, objects } = deps
  const existing = await claimOrReservationOf(taking, deps, signal)
  if (existing?.purpose === 'promotion') {
    await quota.unmark(taking, signal)
    return 'ended'
  }
  const attempt = existing ?? withoutReservation(taking, deps)
  const isClaimed = existing !== undefined
  const noted = untilCopyEnds(attempt, deps)
  // The document may exist all the same: the process may be running, or the ledger restored from a backup.
  const isRecorded = (await documents.fence(attempt, signal)) === 'recorded'
  // The claim names the object's key, so the note is written before the claim is removed.
  if (isClaimed && !isRecorded) await reservations.note('late_copy', noted, signal)
  if (isRecorded || (await reservations.fence(noted, isClaimed, signal)) === 'reserved') {
    await quota.unmark(taking, signal)
    return 'ended'
  }
  await quota.giveBack(taking, signal)
  await objects.discard(attempt.objectKey, signal)
  return 'gaveBack'
}

/**
 * The claim or reservation of a taking, read after the taking was seen: a claim exists from before the bytes are taken
 * until the reservation takes its place.
 */
async function claimOrReservationOf(
  { workspaceId, attemptId }: Taking,
  { reservations }: ResolverDependencies,
  signal: AbortSignal,
): Promise<ReservationItem | undefined> {
  for await (const each of reservations.list(workspaceId, signal)) {
    const isItsOwn = each.attemptId === attemptId && (each.purpose === 'promotion' || each.purpose === 'claim')
    if (isItsOwn) return each
  }
  return undefined
}

/** The document id comes from the attempt's, unless it was claimed: such an attempt has lost its claim, so it can never reserve. */
function withoutReservation(taking: Taking, { objectKeys }: ResolverDependencies): Attempt {
  const { workspaceId, attemptId } = taking
  const documentId = documentIdOfAttempt(attemptId)
  return { ...taking, documentId, objectKey: objectKeys.documentObject({ workspaceId, documentId, attemptId }) }
}

/** A process died while giving bytes back. */
async function resolveRelease(
  release: MarkedRelease,
  deps: ResolverDependencies,
  signal: AbortSignal,
): Promise<Resolution> {
  return (await completeRelease(release, deps, signal)) === undefined ? 'ended' : 'gaveBack'
}

type Resolve = (reservation: ReservationItem, deps: ResolverDependencies, signal: AbortSignal) => Promise<Resolution>

/** How to resolve an item of Reservations that nobody has removed. */
const RESOLVE: Record<ReservationItem['purpose'], Resolve> = {
  async promotion(reservation, deps, signal) {
    if (reservation.releasedBy !== undefined) {
      // A release's marker is there before the bytes are handed over, and goes when they are given back. It is gone,
      // so they have been given back.
      await deps.reservations.remove(reservation, signal)
      return 'ended'
    }
    if ((await undoReserved(reservation, { hasLateCopy: true }, deps, signal)) === 'undone') return 'gaveBack'
    await settle(reservation, deps, signal)
    return 'ended'
  },

  async claim(claim, { reservations }, signal) {
    await reservations.fence(claim, true, signal)
    return 'ended'
  },

  async fence(fence, deps, signal) {
    await discardUnlessRecorded(fence, deps, signal)
    await deps.reservations.remove(fence, signal)
    return 'ended'
  },

  async late_copy(note, deps, signal) {
    await discardUnlessRecorded(note, deps, signal)
    await deps.reservations.removeNote('late_copy', note, signal)
    return 'ended'
  },

  /** A deletion that failed while its document was there is not carried out later: its caller was told so. */
  async deletion(note, deps, signal) {
    if ((await deps.documents.find(note.workspaceId, note.documentId, signal)) !== undefined) {
      await deps.reservations.removeNote('deletion', note, signal)
      return 'ended'
    }
    return (await completeDeletion(note, deps, signal)) === undefined ? 'ended' : 'gaveBack'
  },
}

/** The attempt may live after all, and its document may be there. */
async function discardUnlessRecorded(
  attempt: Attempt,
  { documents, objects }: ResolverDependencies,
  signal: AbortSignal,
): Promise<void> {
  if ((await documents.fence(attempt, signal)) === 'recorded') return
  await objects.discard(attempt.objectKey, signal)
}
