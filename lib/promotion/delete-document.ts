import type { DocumentId, WorkspaceId } from '../ids.ts'
import type { WorkspaceDocument } from './document-records.ts'
import { settle } from './end-attempt.ts'
import type { StorageUsage } from './quota-ledger.ts'
import { type ReleaseDependencies, releaseBytes } from './release-bytes.ts'

/**
 * Deletes record, object and counted bytes, in this order. The ledger is marked first, so that the resolver can finish
 * the work of a process that died. Can be repeated.
 *
 * @param objectKey deletes the document only if it still has this object
 * @returns the document as it was, and the usage afterwards; undefined when there was none, or another deletion was
 *   faster
 */
export async function deleteDocument(
  { workspaceId, documentId, objectKey }: { workspaceId: WorkspaceId; documentId: DocumentId; objectKey?: string },
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<{ document: WorkspaceDocument; usage: StorageUsage | undefined } | undefined> {
  const document = await deps.documents.find(workspaceId, documentId, signal)
  if (document === undefined || (objectKey ?? document.objectKey) !== document.objectKey) return undefined
  // Read after the document: a reservation exists from before the record until it is settled.
  const reservation = await deps.reservations.find({ workspaceId, documentId }, signal)
  if (reservation?.attemptId === document.attemptId) {
    // Recorded but not settled: the reservation would be the document's second claim to its bytes.
    await settle(reservation, deps, signal)
  }
  const released = await releaseBytes(document, 'deletion', deps, signal)
  return released && { document, usage: released.usage }
}
