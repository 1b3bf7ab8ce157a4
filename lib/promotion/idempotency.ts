import { ServiceError } from '../errors.ts'
import { type ContainerId, type DocumentId, documentIdFromHash, type FilePath, type WorkspaceId } from '../ids.ts'
import type { DocumentRecords, WorkspaceDocument } from './document-records.ts'

/** A promotion that the caller identifies by a key. */
export interface PromotionTarget {
  workspaceId: WorkspaceId
  documentId: DocumentId
  containerId: ContainerId
  path: FilePath
}

/**
 * The document id of all promotions of a workspace with this key: so twins meet at one reservation and one record.
 * @param idempotencyKey any text; unique within the workspace
 */
export function documentIdOfKey(workspaceId: WorkspaceId, idempotencyKey: string): DocumentId {
  // No workspace id contains a line break, so no two pairs give the same text.
  return documentIdFromHash(`${workspaceId}\n${idempotencyKey}`)
}

/**
 * The document that an earlier promotion with the same key made, if there is one.
 * @throws ServiceError idempotency_key_reused when that was of another file
 */
export async function findReplay(
  { workspaceId, documentId, containerId, path }: PromotionTarget,
  documents: DocumentRecords,
  signal: AbortSignal,
): Promise<WorkspaceDocument | undefined> {
  const document = await documents.find(workspaceId, documentId, signal)
  if (document && (document.containerId !== containerId || document.filename !== path)) {
    throw new ServiceError('idempotency_key_reused', {
      metadata: { container_id: document.containerId, path: document.filename },
    })
  }
  return document
}
