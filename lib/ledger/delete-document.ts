import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import { newReleaseId, type ReleaseId } from '../ids.ts'
import type { LedgerDependencies } from './dependencies.ts'
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
  return item.state === 'gone' ? { document: item } : endDeletion(item, deps, signal)
}

/** Carries a deletion on from wherever it is. The bytes are given back although S3 may be away. */
export async function endDeletion(
  document: DeletedDocument,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<{ document: DeletedDocument; usage?: StorageUsage | undefined }> {
  // Whoever goes on cannot know whether the object was deleted: everybody deletes it.
  const [released, discarded] = await Promise.allSettled([
    release(document, deps, signal),
    deps.objects.discard(document.objectKey, signal),
  ])
  if (released.status === 'rejected') throw released.reason
  if (discarded.status === 'rejected') throw discarded.reason
  const { releasedBy, usage } = released.value
  if (releasedBy !== undefined) await deps.documents.bury(document, releasedBy, signal)
  return { document, usage }
}

/** Gives the bytes back: only the release that they were handed over to does, and only once. */
async function release(
  document: DeletedDocument,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<{ releasedBy?: ReleaseId | undefined; usage?: StorageUsage | undefined }> {
  const releasedBy = document.releasedBy ?? (await markAndHandOver(document, deps, signal))
  if (releasedBy === undefined) return {}
  const { workspaceId, attemptId } = document
  return { releasedBy, usage: await deps.ledger.giveBack({ workspaceId, attemptId, releaseId: releasedBy }, signal) }
}

async function markAndHandOver(
  document: DeletedDocument,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<ReleaseId | undefined> {
  const { workspaceId, attemptId } = document
  const marked = await mark(document, deps, signal)
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
      const marked = await deps.ledger.mark(release, signal, RETRY_FOR_MS)
      if (marked === 'crowded') throw new ServiceError('too_many_deletions')
      return { releaseId, ...marked }
    } catch (error) {
      const isWorthAnother = error instanceof ServiceError && error.reason === 'service_unavailable'
      if (!isWorthAnother || failures === MAX_FAILURES) throw error
    }
    await sleep(PAUSE_MS * (0.5 + Math.random()))
  }
}
