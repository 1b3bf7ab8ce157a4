import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import { newReleaseId, type ReleaseId } from '../ids.ts'
import { freePlaces } from './clean-markers.ts'
import type { LedgerDependencies } from './dependencies.ts'
import { endDeletion } from './end-deletion.ts'
import type { DeletedDocument, Deletion, WorkspaceDocument } from './ports/documents.ts'
import type { StorageUsage } from './ports/ledger.ts'

/** How long to retry a crowded ledger: the caller waits. */
const RETRY_FOR_MS = 1000
const MAX_FAILURES = 3
const PAUSE_MS = 50

/**
 * Deletes a document, or whatever an earlier deletion left unfinished. Can be repeated.
 * @returns the tombstone, and the usage if this deletion gave the bytes back; undefined when the document is not there any
 *   more, or not to be deleted
 * @throws ServiceError too_many_deletions
 */
export async function deleteDocument(
  found: WorkspaceDocument | DeletedDocument,
  when: Deletion,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<{ document: DeletedDocument; usage?: StorageUsage | undefined } | undefined> {
  const dueAtMs = deps.now() + deps.leaseMs
  const item = found.state === 'ready' ? await deps.documents.delete(found, { ...when, dueAtMs }, signal) : found
  if (item?.attemptId !== found.attemptId || item.state === 'pending' || item.state === 'ready') return undefined
  if (item.state === 'gone') return { document: item }
  return endDeletion(item, async () => item.releasedBy ?? markAndHandOver(item, deps, signal), deps, signal)
}

async function markAndHandOver(
  document: DeletedDocument,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<ReleaseId | undefined> {
  const { workspaceId, attemptId } = document
  const marked = await mark(document, deps, signal).catch(async (error) => {
    // Without a ledger, it needs an audit; or others have ended this deletion, and then deleted the workspace.
    const item =
      error instanceof ServiceError ? document : await deps.documents.find(document, signal).catch(() => document)
    if (item?.attemptId === attemptId && item.state === 'deleting') throw error
  })
  if (marked === undefined) return undefined
  const releasedBy = await deps.documents.handOver(document, marked, signal)
  if (releasedBy !== marked.releaseId)
    await deps.ledger.unmark({ workspaceId, attemptId, releaseId: marked.releaseId }, signal)
  return releasedBy
}

/** Each try has its own id: if the marker of a failed one arrives after all, no document is handed over to it. */
async function mark(
  { workspaceId, documentId, attemptId, sizeBytes }: DeletedDocument,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<{ releaseId: ReleaseId; markedIn: number }> {
  const bytes = { workspaceId, documentId, attemptId, sizeBytes }
  for (let failures = 1; ; failures++) {
    const releaseId = newReleaseId()
    try {
      const release = { ...bytes, releaseId, leaseEndsAtMs: deps.now() + deps.leaseMs }
      let marked = await deps.ledger.mark(release, signal, RETRY_FOR_MS)
      // Leftovers may take up all places, as those of takings.
      if (marked === 'crowded' && (await freePlaces(deps.ledger.read(workspaceId, signal), deps, signal)))
        marked = await deps.ledger.mark(release, signal, 0)
      if (marked === 'crowded') throw new ServiceError('too_many_deletions')
      return { releaseId, ...marked }
    } catch (error) {
      const isWorthAnother = error instanceof ServiceError && error.reason === 'service_unavailable'
      if (!isWorthAnother || failures === MAX_FAILURES) throw error
    }
    await sleep(PAUSE_MS * (0.5 + Math.random()))
  }
}
