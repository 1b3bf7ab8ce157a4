import type { DocumentId, WorkspaceId } from '../ids.ts'
import type { WorkspaceDocument } from './document-records.ts'
import { settle } from './end-attempt.ts'
import type { StorageUsage } from './quota-ledger.ts'
import { type ReleaseDependencies, releaseBytes } from './release-bytes.ts'

/**
 * Deletes a document: record, object, and the bytes it was counted with, in this order. It is marked in the ledger first, so
 * that the resolver finishes a deletion whose process died. May be repeated.
 *
 * @param objectKey deletes only the document with this object: not one made since under the same id
 * @returns the document as it was, and the usage after; undefined when there is none, or another deletion was faster
 */
export async function deleteDocument(
  { workspaceId, documentId, objectKey }: { workspaceId: WorkspaceId; documentId: DocumentId; objectKey?: string },
  deps: ReleaseDependencies,
  signal: AbortSignal,
): Promise<{ document: WorkspaceDocument; usage: StorageUsage | undefined } | undefined> {
  const document = await deps.documents.find(workspaceId, documentId, signal)
  if (document === undefined || (objectKey ?? document.objectKey) !== document.objectKey) return undefined
  // After the document, so that none is missed: a reservation is there from before the record until it is settled.
  const reservation = await deps.reservations.find({ workspaceId, documentId }, signal)
  if (reservation?.attemptId === document.attemptId) {
    // Recorded, but not settled: while the reservation is there, it would be the document's second claim to its bytes.
    await settle(reservation, deps, signal)
  }
  const released = await releaseBytes(document, 'deletion', deps, signal)
  return released && { document, usage: released.usage }
}
