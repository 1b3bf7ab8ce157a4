import { ServiceError } from '../errors.ts'
import { type DocumentId, parseDocumentId, type WorkspaceId } from '../ids.ts'
import { hasExpired } from '../ledger/expiry.ts'
import type { DeletedDocument, DocumentRecords, WorkspaceDocument } from '../ledger/ports/document-records.ts'

export interface FindDocumentDependencies {
  documents: Pick<DocumentRecords, 'findEvenDeleted'>
  now(): number
}

/**
 * A document of another workspace looks the same as one that does not exist.
 * @param documentId unchecked
 * @throws ServiceError document_not_found, also for a malformed id; document_expired
 */
export async function findDocument(
  request: { workspaceId: WorkspaceId; documentId: string | undefined },
  deps: FindDocumentDependencies,
  signal: AbortSignal,
): Promise<WorkspaceDocument> {
  const documentId = parseDocumentId(request.documentId)
  const document = await findUnexpired({ ...request, documentId }, deps, signal)
  if (document === undefined || 'isDeleted' in document) throw documentNotFound(documentId)
  return document
}

/** Finds the document, or what is remembered of a deleted one. @throws ServiceError document_expired */
export async function findUnexpired(
  { workspaceId, documentId }: { workspaceId: WorkspaceId; documentId: DocumentId },
  { documents, now }: FindDocumentDependencies,
  signal: AbortSignal,
): Promise<WorkspaceDocument | DeletedDocument | undefined> {
  const document = await documents.findEvenDeleted(workspaceId, documentId, signal)
  const isExpired = document && ('isDeleted' in document ? document.isExpired : hasExpired(document, now()))
  if (isExpired) throw new ServiceError('document_expired', { metadata: { document_id: documentId } })
  return document
}

export function documentNotFound(documentId: DocumentId): ServiceError {
  return new ServiceError('document_not_found', { metadata: { document_id: documentId } })
}
