import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import { newReleaseId } from '../ids.ts'
import type { DocumentRecords } from './document-records.ts'
import type { ObjectStore } from './object-store.ts'
import type { QuotaLedger, StorageUsage } from './quota-ledger.ts'
import type { Release, Reservation, Reservations } from './reservations.ts'

export interface ReleaseDependencies {
  objects: ObjectStore
  ledger: QuotaLedger
  reservations: Reservations
  documents: DocumentRecords
  /** How long a reservation or release is left alone: longer than a process can live. */
  leaseMs: number
  now(): number
}

/** Between two tries to mark a release. */
const PAUSE_MS = 50
/** A ledger that is merely crowded is tried as long as there is time. */
const MAX_FAILURES = 3

/**
 * Gives back the bytes of an attempt: those of its reservation, or those of its document, which it deletes. The ledger
 * is marked first: whoever finds the marker can complete the release, and exactly one release gets the bytes.
 * @returns the usage afterwards; undefined when another release was faster
 */
export async function releaseBytes(
  { workspaceId, documentId, attemptId, sizeBytes }: Omit<Reservation, 'objectKey' | 'leaseExpiresAtMs'>,
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
): Promise<Release> {
  for (let failures = 0; ; ) {
    const release = { ...bytes, releaseId: newReleaseId(), leaseExpiresAtMs: deps.now() + deps.leaseMs }
    try {
      if ((await deps.ledger.mark(release, signal)) === 'marked') return release
    } catch (error) {
      const isWorthAnother = error instanceof ServiceError && error.reason === 'service_unavailable'
      if (!isWorthAnother || ++failures === MAX_FAILURES) throw error
    }
    const isOver = await sleep(PAUSE_MS * (0.5 + Math.random()), false, { signal }).catch(() => true)
    if (isOver) throw new ServiceError('promotion_timed_out', { cause: signal.reason })
  }
}

/**
 * Finishes a marked release, in its own process or in the resolver. Anybody may repeat it at any time: only the release
 * that closed the reservation or retired the document gives its bytes back.
 */
export async function completeRelease(
  release: Release,
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<{ usage: StorageUsage | undefined } | undefined> {
  return release.purpose === 'undo' ? completeUndo(release, deps, signal) : completeDeletion(release, deps, signal)
}

async function completeUndo(release: Release, { ledger, reservations }: ReleaseDependencies, signal: AbortSignal) {
  const reservation = await reservations.close(release, signal)
  if (reservation === undefined) {
    await ledger.unmark(release, signal)
    return undefined
  }
  const given = await ledger.release(release, signal)
  await reservations.remove(reservation, signal)
  return { usage: given?.usage }
}

async function completeDeletion(
  release: Release,
  { ledger, documents, objects }: ReleaseDependencies,
  signal: AbortSignal,
) {
  const retired = await documents.retire(release, signal)
  if (retired === undefined) {
    await ledger.unmark(release, signal)
    return undefined
  }
  await objects.discard(retired.objectKey, signal)
  // The marker stays as long as it is needed to find the rest of the work.
  const given = await ledger.release(release, signal, { keepsMarker: true })
  const countedThrough = given?.countedThrough
  await documents.finish(release, signal, countedThrough === undefined ? undefined : { retired, countedThrough })
  await ledger.unmark(release, signal)
  return { usage: given?.usage }
}
