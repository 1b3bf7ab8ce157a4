import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import { newReleaseId, type ReleaseId } from '../ids.ts'
import type { LedgerDependencies } from './dependencies.ts'
import type { StorageUsage } from './ports/quota-ledger.ts'
import type { Attempt, MarkedRelease, Release } from './ports/reservations.ts'

type BytesOfAttempt = Pick<Attempt, 'workspaceId' | 'documentId' | 'attemptId' | 'sizeBytes'>

/** How long to retry a crowded ledger: an undo, as long as its request lives; a deletion, briefly: its caller waits. */
const RETRY_FOR_MS = { undo: 60_000, deletion: 1000 }
const MAX_FAILURES = 3
const PAUSE_MS = 50

/**
 * Gives back the bytes of an attempt, whose object must be gone: those of its reservation, or of the tombstone of its
 * document. The ledger is marked first: whoever finds the marker can complete the release, and exactly one release
 * gets the bytes.
 * @returns undefined when others had given them back
 * @throws ServiceError too_many_deletions
 */
export async function releaseBytes(
  { workspaceId, documentId, attemptId, sizeBytes }: BytesOfAttempt,
  cause: Release['cause'],
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<{ usage: StorageUsage | undefined } | undefined> {
  const bytes = { workspaceId, documentId, attemptId, sizeBytes, cause }
  return completeRelease(await mark(bytes, deps, signal), deps, signal)
}

/** Each try has its own id: if the marker of a failed one arrives after all, it finds nothing left to give back. */
async function mark(
  bytes: Omit<Release, 'releaseId' | 'leaseExpiresAtMs'>,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<MarkedRelease> {
  for (let failures = 1; ; failures++) {
    const release = { ...bytes, releaseId: newReleaseId(), leaseExpiresAtMs: deps.now() + deps.leaseMs }
    try {
      const marked = await deps.quota.mark(release, signal, RETRY_FOR_MS[bytes.cause])
      if (marked !== 'crowded') return marked
      throw new ServiceError(bytes.cause === 'deletion' ? 'too_many_deletions' : 'request_timed_out')
    } catch (error) {
      const isWorthAnother = error instanceof ServiceError && error.reason === 'service_unavailable'
      if (!isWorthAnother || failures === MAX_FAILURES) throw error
    }
    await sleep(PAUSE_MS * (0.5 + Math.random()))
  }
}

/**
 * Completes a marked release, in its own process or in the resolver, or the release that was faster. Anybody may repeat
 * it at any time: only the release that the reservation or the tombstone was handed over to gives its bytes back.
 */
export async function completeRelease(
  release: MarkedRelease,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<{ usage: StorageUsage | undefined } | undefined> {
  const { quota, reservations, documents } = deps
  const releasedBy = await (release.cause === 'undo' ? reservations : documents).handOver(release, signal)
  if (releasedBy !== release.releaseId) await quota.unmark(release, signal)
  if (releasedBy === undefined) return undefined
  return endRelease({ ...release, releaseId: releasedBy }, deps, signal)
}

/** Ends a release that has the bytes. Its marker was in the ledger before they were handed over. */
export async function endRelease(
  release: BytesOfAttempt & { cause: Release['cause']; releaseId: ReleaseId },
  { quota, reservations, documents }: LedgerDependencies,
  signal: AbortSignal,
): Promise<{ usage: StorageUsage | undefined }> {
  const usage = await quota.giveBack(release, signal)
  if (release.cause === 'undo') await reservations.remove(release, signal)
  else await documents.expireTombstone(release, signal)
  return { usage }
}
