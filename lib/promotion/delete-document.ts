import { ServiceError } from '../errors.ts'
import { type DocumentId, newAttemptId, type WorkspaceId } from './ids.ts'
import type { OpenReservation, WorkspaceDocument } from './ports.ts'
import { resolveReservation } from './resolve-reservation.ts'
import type { TakeBackDependencies } from './take-back.ts'

/**
 * Deletes a document: record, object, and the bytes it was counted with, in this order. A reservation that holds the bytes
 * is opened first, so that the resolver finishes a deletion whose process died. May be repeated.
 *
 * @param objectKey deletes only the document with this object: not one made since under the same id
 * @returns the document as it was; undefined when there is none
 * @throws ServiceError promotion_in_progress while there is an open reservation of the document: its promotion is not
 *   settled yet, or another process deletes it; the resolver ends both within minutes
 */
export async function deleteDocument(
  { workspaceId, documentId, objectKey }: { workspaceId: WorkspaceId; documentId: DocumentId; objectKey?: string },
  deps: TakeBackDependencies & { leaseMs: number; now(): number },
  signal: AbortSignal,
): Promise<WorkspaceDocument | undefined> {
  const document = await deps.documents.find(workspaceId, documentId, signal)
  if (document === undefined || (objectKey ?? document.objectKey) !== document.objectKey) return undefined
  const deletion: OpenReservation = {
    workspaceId,
    documentId,
    attemptId: newAttemptId(),
    sizeBytes: document.sizeBytes,
    objectKey: document.objectKey,
    leaseExpiresAtMs: deps.now() + deps.leaseMs,
    purpose: 'deletion',
  }
  const begun = await deps.ledger.beginDeletion(deletion, signal)
  if (begun.outcome === 'in_progress') throw new ServiceError('promotion_in_progress')
  await resolveReservation({ ...deletion, mayRepeat: begun.mayRepeat }, deps, signal)
  return document
}
