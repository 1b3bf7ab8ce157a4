import type { LedgerDependencies } from './dependencies.ts'
import type { Attempt, Stray } from './ports/documents.ts'

/** Completing an upload "could take several minutes" (S3 API, CompleteMultipartUpload), even after its caller has gone. */
export const LONGEST_COPY_MS = 15 * 60 * 1000

/**
 * Undoes an attempt without a hold or a write under way: mostly one that an overloaded ledger refused, which a `void`
 * would load further. The pending item is removed last, so that the resolver finds it if this process dies.
 */
export async function undoWithoutHold(
  attempt: Attempt,
  { documents, objects }: LedgerDependencies,
  signal: AbortSignal,
): Promise<boolean> {
  await objects.discard(attempt, signal)
  return documents.fence(attempt, signal)
}

/**
 * Undoes an attempt, whatever it has done or sent. Any process may do this, at any time, and repeat it.
 * @param arrivesByMs by when all its writes have arrived, ms since 1970: until then the stray stays. Omitted: all have
 * @returns whether there is a document: then nothing is undone
 */
export async function undo(
  attempt: Attempt,
  arrivesByMs: number | undefined,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<boolean> {
  const stray = { ...attempt, state: 'stray', dueAtMs: arrivesByMs ?? deps.now() + deps.leaseMs } as const
  // It leads to the object and the hold, once the pending item is gone.
  await deps.documents.putStray(stray, signal)
  return endStray(stray, { isKept: arrivesByMs !== undefined }, deps, signal)
}

/** @param isKept leaves the stray: something may still arrive */
export async function endStray(
  stray: Stray,
  { isKept }: { isKept: boolean },
  { documents, ledger, log, objects }: LedgerDependencies,
  signal: AbortSignal,
): Promise<boolean> {
  const isRecorded = await documents.fence(stray, signal)
  if (!isRecorded) {
    // Only from here on: before, the document might have been recorded.
    await objects.discard(stray, signal)
    await ledger.void(stray, signal)
  }
  if (isRecorded || !isKept) {
    // The attempt has come to its end: a stray that stays is ended once more, which does no harm.
    await documents
      .removeStray(stray, signal)
      .catch((error) => log.warn('stray not removed, left to the resolver', { error }))
  }
  return isRecorded
}
