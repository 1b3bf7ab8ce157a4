import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import { newReleaseId, type ReleaseId } from '../ids.ts'
import type { DocumentRecords } from './document-records.ts'
import type { ObjectStore } from './object-store.ts'
import type { QuotaLedger, StorageUsage } from './quota-ledger.ts'
import type { MarkedRelease, Release, Reservation, Reservations } from './reservations.ts'

export interface ReleaseDependencies {
  objects: ObjectStore
  ledger: QuotaLedger
  reservations: Reservations
  documents: DocumentRecords
  /** How long a reservation or release is left alone: longer than a process can live. */
  leaseMs: number
  now(): number
}

export type BytesOfAttempt = Pick<Reservation, 'workspaceId' | 'documentId' | 'attemptId' | 'sizeBytes'>

/** Between two tries to mark a release. */
const PAUSE_MS = 50
/** A ledger that is merely crowded is tried as long as there is time; for a deletion, somebody waits. */
const DELETION_PATIENCE_MS = 1000
const MAX_FAILURES = 3

/**
 * Gives back the bytes of an attempt, whose object must be gone: those of its reservation, or of the tombstone of its
 * document. The ledger is marked first: whoever finds the marker can complete the release, and exactly one release
 * gets the bytes.
 * @returns undefined when others had given them back
 * @throws ServiceError too_many_deletions
 */
export async function releaseBytes(
  { workspaceId, documentId, attemptId, sizeBytes }: BytesOfAttempt,
  purpose: Release['purpose'],
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<{ usage: StorageUsage | undefined } | undefined> {
  const bytes = { workspaceId, documentId, attemptId, sizeBytes, purpose }
  return completeRelease(await mark(bytes, deps, signal), deps, signal)
}

/** Each try has its own id: if the marker of a failed one arrives after all, it finds nothing left to give back. */
async function mark(
  bytes: Omit<Release, 'releaseId' | 'leaseExpiresAtMs'>,
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<MarkedRelease> {
  const impatientAtMs = bytes.purpose === 'deletion' ? deps.now() + DELETION_PATIENCE_MS : Number.POSITIVE_INFINITY
  for (let failures = 0; ; ) {
    const release = { ...bytes, releaseId: newReleaseId(), leaseExpiresAtMs: deps.now() + deps.leaseMs }
    try {
      const marked = await deps.ledger.mark(release, signal)
      if (marked !== 'crowded') return marked
      if (deps.now() >= impatientAtMs) throw new ServiceError('too_many_deletions')
    } catch (error) {
      const isWorthAnother = error instanceof ServiceError && error.reason === 'service_unavailable'
      if (!isWorthAnother || ++failures === MAX_FAILURES) throw error
    }
    const isOver = await sleep(PAUSE_MS * (0.5 + Math.random()), false, { signal }).catch(() => true)
    if (isOver) throw new ServiceError('promotion_timed_out', { cause: signal.reason })
  }
}

/**
 * Finishes a marked release, in its own process or in the resolver, or the release that was faster. Anybody may repeat
 * it at any time: only the release that has closed the reservation or the tombstone gives its bytes back.
 */
export async function completeRelease(
  release: MarkedRelease,
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<{ usage: StorageUsage | undefined } | undefined> {
  const { ledger, reservations, documents } = deps
  const isUndo = release.purpose === 'undo'
  const closedBy = await (isUndo ? reservations : documents).close(release, signal)
  if (closedBy !== release.releaseId) await ledger.unmark(release, signal)
  if (closedBy === undefined) return undefined
  return finishRelease({ ...release, releaseId: closedBy }, deps, signal)
}

/** Finishes a release that has closed its reservation or tombstone. Its marker was in the ledger before that. */
export async function finishRelease(
  release: BytesOfAttempt & { purpose: Release['purpose']; releaseId: ReleaseId },
  { ledger, reservations, documents }: ReleaseDependencies,
  signal: AbortSignal,
): Promise<{ usage: StorageUsage | undefined }> {
  const usage = await ledger.release(release, signal)
  if (release.purpose === 'undo') await reservations.remove(release, signal)
  else await documents.finish(release, signal)
  return { usage }
}
