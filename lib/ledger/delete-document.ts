import type { DocumentId, WorkspaceId } from '../ids.ts'
import type { LedgerDependencies } from './dependencies.ts'
import { settle } from './end-attempt.ts'
import type { DeletedDocument, WorkspaceDocument } from './ports/document-records.ts'
import type { StorageUsage } from './ports/quota-ledger.ts'
import type { Attempt } from './ports/reservations.ts'
import { endRelease, releaseBytes } from './release-bytes.ts'

/**
 * Deletes record, object and counted bytes, in this order, or whatever an earlier deletion left unfinished. A note is
 * written first, so that the resolver can finish the work of a process that died. Can be repeated.
 *
 * @param objectKey deletes the document only if it still has this object
 * @returns what was deleted, and the usage afterwards if it is known; undefined when nothing was left to delete
 * @throws ServiceError too_many_deletions
 */
export async function deleteDocument(
  { workspaceId, documentId, objectKey }: { workspaceId: WorkspaceId; documentId: DocumentId; objectKey?: string },
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<{ document: WorkspaceDocument | DeletedDocument; usage: StorageUsage | undefined } | undefined> {
  const document = await deps.documents.findEvenDeleted(workspaceId, documentId, signal)
  if (document === undefined || (objectKey ?? document.objectKey) !== document.objectKey) return undefined
  return deleteFound(document, deps, signal)
}

/** As {@link deleteDocument}. @param expiredByMs only if it has expired by then, ms since 1970 */
export async function deleteFound(
  document: WorkspaceDocument | DeletedDocument,
  deps: LedgerDependencies,
  signal: AbortSignal,
  expiredByMs?: number,
): Promise<{ document: WorkspaceDocument | DeletedDocument; usage: StorageUsage | undefined } | undefined> {
  if ('isDeleted' in document && document.isGivenBack) return undefined
  // Read after the document: a reservation exists from before the record until it is settled.
  const reservation = await deps.reservations.find(document, signal)
  if (reservation?.attemptId === document.attemptId) {
    // Recorded but not settled: the document's bytes would be held twice, by the reservation as well.
    await settle(reservation, deps, signal)
  }

  const deletion = { ...document, leaseExpiresAtMs: deps.now() + deps.leaseMs }
  await deps.reservations.note('deletion', deletion, signal)
  // This comes after the note: if the resolver has checked in between, it checks again.
  await deps.quota.schedule(deletion, signal)
  const usage = await completeDeletion(deletion, deps, signal, expiredByMs)
  return { document, usage }
}

/**
 * Carries out a deletion that is noted, in its own process or in the resolver. Anybody may repeat it at any time. The
 * tombstone holds the bytes while S3 deletes the object, so the ledger is only marked when that is done.
 */
export async function completeDeletion(
  deletion: Attempt,
  deps: LedgerDependencies,
  signal: AbortSignal,
  expiredByMs?: number,
): Promise<StorageUsage | undefined> {
  const { documents, objects, reservations } = deps
  const deleted = await documents.delete(deletion, signal, expiredByMs)
  let release: { usage: StorageUsage | undefined } | undefined
  if (deleted) {
    await objects.discard(deletion.objectKey, signal)
    const { releasedBy } = deleted
    release = await (releasedBy === undefined
      ? releaseBytes(deletion, 'deletion', deps, signal)
      : endRelease({ ...deletion, cause: 'deletion', releaseId: releasedBy }, deps, signal))
  }
  await reservations.removeNote('deletion', deletion, signal)
  return release?.usage
}
