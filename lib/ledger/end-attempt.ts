import type { LedgerDependencies } from './dependencies.ts'
import type { Attempt } from './ports/reservations.ts'
import { releaseBytes } from './release-bytes.ts'

/** Completing an upload "could take several minutes" (S3 API, CompleteMultipartUpload), even after its caller has gone. */
const LONGEST_COPY_MS = 15 * 60 * 1000

/**
 * Ends an attempt that has reserved: keeps it from recording, deletes its object, then gives its bytes back, so that a
 * document never lacks its bytes and no bytes go uncounted. Anybody may repeat it at any time.
 *
 * @param hasLateCopy whether S3 may still finish its copy: the resolver must delete it later
 * @returns 'recorded' when the document turns out to exist: nothing is undone, and the caller must settle
 */
export async function undoReserved(
  attempt: Attempt,
  { hasLateCopy }: { hasLateCopy: boolean },
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<'recorded' | 'undone'> {
  if ((await deps.documents.fence(attempt, signal)) === 'recorded') return 'recorded'
  // The fence must come first: the note leads to the object's deletion, and the document might exist.
  if (hasLateCopy) await deps.reservations.note('late_copy', untilCopyEnds(attempt, deps), signal)
  // From here on the reservation alone holds the bytes.
  await deps.quota.unmark(attempt, signal)
  await deps.objects.discard(attempt.objectKey, signal)
  await releaseBytes(attempt, 'undo', deps, signal)
  return 'undone'
}

/** Ends a recorded attempt. The marker goes first: without a reservation it would mean bytes to give back. */
export async function settle(
  attempt: Attempt,
  { quota, reservations }: Pick<LedgerDependencies, 'quota' | 'reservations'>,
  signal: AbortSignal,
): Promise<void> {
  await quota.unmark(attempt, signal)
  await reservations.remove(attempt, signal)
}

/** The attempt, with a lease that lasts until S3 can no longer write its object: for a note, or a fence. */
export function untilCopyEnds(attempt: Attempt, { now }: Pick<LedgerDependencies, 'now'>): Attempt {
  return { ...attempt, leaseExpiresAtMs: now() + LONGEST_COPY_MS }
}
