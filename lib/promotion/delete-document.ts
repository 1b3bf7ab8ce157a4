import type { DocumentId, WorkspaceId } from '../ids.ts'
import type { DeletedDocument, WorkspaceDocument } from './document-records.ts'
import { settle } from './end-attempt.ts'
import type { StorageUsage } from './quota-ledger.ts'
import { finishRelease, type ReleaseDependencies, releaseBytes } from './release-bytes.ts'
import type { Reservation } from './reservations.ts'

/**
 * Deletes record, object and counted bytes, in this order; if an earlier deletion stopped on the way, what it left. A
 * note comes first, so that the resolver can finish the work of a process that died. Can be repeated.
 *
 * @param objectKey deletes the document only if it still has this object
 * @returns what was deleted, and the usage afterwards if it is known; undefined when nothing was left to delete
 * @throws ServiceError too_many_deletions
 */
export async function deleteDocument(
  { workspaceId, documentId, objectKey }: { workspaceId: WorkspaceId; documentId: DocumentId; objectKey?: string },
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<{ document: WorkspaceDocument | DeletedDocument; usage: StorageUsage | undefined } | undefined> {
  const document = await deps.documents.findEvenDeleted(workspaceId, documentId, signal)
  if (document === undefined || ('isDeleted' in document && document.isFinished)) return undefined
  if ((objectKey ?? document.objectKey) !== document.objectKey) return undefined

  // Read after the document: a reservation exists from before the record until it is settled.
  const reservation = await deps.reservations.find(document, signal)
  if (reservation?.attemptId === document.attemptId) {
    // Recorded but not settled: the reservation would be the document's second claim to its bytes.
    await settle(reservation, deps, signal)
  }

  const deletion = { ...document, leaseExpiresAtMs: deps.now() + deps.leaseMs }
  await deps.reservations.note('deletion', deletion, signal)
  // After the note: if the resolver looked in between, it looks again.
  await deps.ledger.schedule(deletion, signal)
  const usage = await completeDeletion(deletion, deps, signal)
  return { document, usage }
}

/**
 * Carries out a deletion that is noted, in its own process or in the resolver. Anybody may repeat it at any time. The
 * tombstone holds the bytes while S3 deletes the object, so the ledger is only marked when that is done.
 */
export async function completeDeletion(
  deletion: Reservation,
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<StorageUsage | undefined> {
  const { documents, objects, reservations } = deps
  const retired = await documents.retire(deletion, signal)
  let released: { usage: StorageUsage | undefined } | undefined
  if (retired) {
    await objects.discard(deletion.objectKey, signal)
    const { closedBy } = retired
    released = await (closedBy === undefined
      ? releaseBytes(deletion, 'deletion', deps, signal)
      : finishRelease({ ...deletion, purpose: 'deletion', releaseId: closedBy }, deps, signal))
  }
  await reservations.removeNote('deletion', deletion, signal)
  return released?.usage
}
