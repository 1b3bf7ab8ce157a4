import { ServiceError } from '../errors.ts'
import { type DocumentId, parseDocumentId, type WorkspaceId } from '../ids.ts'
import type { DocumentRecords, WorkspaceDocument } from '../ledger/ports/document-records.ts'

/**
 * A document of another workspace looks the same as one that does not exist.
 * @param documentId unchecked
 * @throws ServiceError document_not_found, also for a malformed id
 */
export async function findDocument(
  { workspaceId, documentId }: { workspaceId: WorkspaceId; documentId: string | undefined },
  { documents }: { documents: Pick<DocumentRecords, 'find'> },
  signal: AbortSignal,
): Promise<WorkspaceDocument> {
  const id = parseDocumentId(documentId)
  const document = await documents.find(workspaceId, id, signal)
  if (document === undefined) throw documentNotFound(id)
  return document
}

export function documentNotFound(documentId: DocumentId): ServiceError {
  return new ServiceError('document_not_found', { metadata: { document_id: documentId } })
}
