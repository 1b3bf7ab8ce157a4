import { type AttemptId, documentIdOfAttempt } from '../ids.ts'
import { settle, undo, watchForCopy } from './end-attempt.ts'
import type { Taking } from './quota-ledger.ts'
import { completeRelease } from './release-bytes.ts'
import type { OpenReservation, Release } from './reservations.ts'
import type { ResolverDependencies } from './resolve-workspace.ts'
import type { WorkspaceLedger } from './workspace-ledgers.ts'

export type Resolution = 'settled' | 'released'

/** Something that a process began and did not finish, as shown by the ledger and the reservations. */
export interface Leftover {
  what: 'taking' | 'release' | 'reservation'
  subject: { attemptId: string; leaseExpiresAtMs: number }
  resolve(signal: AbortSignal): Promise<Resolution>
}

/** A process died between taking the bytes and removing the marker. */
export function takingLeftover(taking: Taking, reservations: OpenReservation[], deps: ResolverDependencies): Leftover {
  const { workspaceId, attemptId } = taking
  return {
    what: 'taking',
    subject: taking,
    async resolve(signal) {
      if (reservationOf(taking, reservations)) {
        await deps.ledger.unmark(taking, signal)
        return 'settled'
      }
      // A copy can exist only if it did not wait for the reservation; then the attempt id gives its document id.
      const documentId = documentIdOfAttempt(attemptId)
      const objectKey = deps.objectKeys.documentObject({ workspaceId, documentId, attemptId })
      await watchForCopy({ ...taking, documentId, objectKey }, deps, signal)
      await deps.objects.discard(objectKey, signal)
      await deps.ledger.release(taking, signal)
      return 'released'
    },
  }
}

function reservationOf({ attemptId }: { attemptId: AttemptId }, reservations: OpenReservation[]) {
  return reservations.find((open) => open.attemptId === attemptId && open.purpose === 'promotion')
}

/** A process died while giving bytes back. */
export function releaseLeftover(
  release: Release,
  reservations: OpenReservation[],
  deps: ResolverDependencies,
): Leftover {
  return {
    what: 'release',
    subject: release,
    async resolve(signal) {
      const undone = reservations.find(
        ({ attemptId, purpose }) => attemptId === release.attemptId && purpose === 'promotion',
      )
      if (release.purpose === 'undo' && undone) await deps.objects.discard(undone.objectKey, signal)
      return (await completeRelease(release, deps, signal)) === undefined ? 'settled' : 'released'
    },
  }
}

/** @returns undefined for a reservation closed by a release in the ledger: resolving that release deals with it */
export function reservationLeftover(
  reservation: OpenReservation,
  ledger: WorkspaceLedger,
  deps: ResolverDependencies,
): Leftover | undefined {
  const { purpose, closedBy, objectKey } = reservation
  if (closedBy && ledger.releases.some(({ releaseId }) => releaseId === closedBy)) return undefined
  return {
    what: 'reservation',
    subject: reservation,
    async resolve(signal) {
      if (purpose === 'late_copy' || purpose === 'fence') {
        await deps.objects.discard(objectKey, signal)
        await deps.reservations[purpose === 'fence' ? 'remove' : 'removeWatch'](reservation, signal)
        return 'settled'
      }
      if (closedBy === undefined) {
        if ((await undo(reservation, { mayCopyArrive: true }, deps, signal)) === 'undone') return 'released'
        await settle(reservation, deps, signal)
        return 'settled'
      }
      // The release's marker is written before the reservation is closed, and removed once the bytes were given back.
      // It is gone, so they were.
      await deps.reservations.remove(reservation, signal)
      return 'settled'
    },
  }
}
