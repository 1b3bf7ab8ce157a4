import type { LedgerDependencies } from './dependencies.ts'
import type { Attempt, Stray } from './ports/documents.ts'

/** Completing an upload "could take several minutes" (S3 API, CompleteMultipartUpload), even after its caller has gone. */
export const LONGEST_COPY_MS = 15 * 60 * 1000

/** The version of an attempt's object, where it is known: it goes for good. */
interface ObjectVersion {
  versionId?: string | undefined
}

/** Undoes an attempt that has taken nothing, and has nothing on its way. The pending item goes last: the resolver finds it. */
export async function undoUntaken(
  attempt: Attempt & ObjectVersion,
  { documents, objects }: LedgerDependencies,
  signal: AbortSignal,
): Promise<void> {
  await objects.discard(attempt.objectKey, signal, attempt.versionId)
  await documents.fence(attempt, signal)
}

/**
 * Undoes an attempt, whatever it has done or sent. Anybody may, at any time, and may begin anew.
 * @param arrivesByMs when all that it sent has arrived, ms since 1970: until then the stray stays. Omitted: nothing is on
 *   its way
 * @returns 'recorded' when there is a document: nothing is undone
 */
export async function undo(
  attempt: Attempt & ObjectVersion,
  arrivesByMs: number | undefined,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<'undone' | 'recorded'> {
  const { workspaceId, documentId, attemptId, objectKey } = attempt
  const dueAtMs = arrivesByMs ?? deps.now() + deps.leaseMs
  const stray: Stray = { workspaceId, documentId, attemptId, objectKey, state: 'stray', dueAtMs }
  // It leads to the object and the taking, once the pending item is gone.
  await deps.documents.putStray(stray, signal)
  return endStray({ ...stray, versionId: attempt.versionId }, { isKept: arrivesByMs !== undefined }, deps, signal)
}

/** @param isKept leaves the stray: something may still arrive */
export async function endStray(
  stray: Stray & ObjectVersion,
  { isKept }: { isKept: boolean },
  { documents, ledger, log, objects }: LedgerDependencies,
  signal: AbortSignal,
): Promise<'undone' | 'recorded'> {
  const isRecorded = await documents.fence(stray, signal)
  if (!isRecorded) {
    // Only from here on: before, the document might have been recorded.
    await objects.discard(stray.objectKey, signal, stray.versionId)
    await ledger.giveBack(stray, signal)
  }
  if (isRecorded || !isKept) {
    // The attempt has come to its end: a stray that stays is ended once more, which does no harm.
    await documents
      .removeStray(stray, signal)
      .catch((error) => log.warn('stray not removed, left to the resolver', { error }))
  }
  return isRecorded ? 'recorded' : 'undone'
}
