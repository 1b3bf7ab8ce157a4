import { ServiceError } from '../errors.ts'
import { type DocumentId, parseDocumentId, type WorkspaceId } from '../ids.ts'
import { hasExpired } from '../ledger/expiry.ts'
import type { DeletedDocument, Documents, WorkspaceDocument } from '../ledger/ports/documents.ts'

export interface FindDocumentDependencies {
  documents: Pick<Documents, 'find'>
  now(): number
}

/**
 * A document of another workspace looks the same as one that does not exist.
 * @throws ServiceError document_not_found, also for a malformed id; document_expired
 */
export async function findDocument(
  request: { workspaceId: WorkspaceId; documentId: string | undefined },
  deps: FindDocumentDependencies,
  signal: AbortSignal,
): Promise<WorkspaceDocument> {
  const documentId = parseDocumentId(request.documentId)
  const document = await findUnexpired({ ...request, documentId }, deps, signal)
  if (document?.state !== 'ready') throw documentNotFound(documentId)
  return document
}

/** Finds the document, or what is remembered of a deleted one. @throws ServiceError document_expired */
export async function findUnexpired(
  ids: { workspaceId: WorkspaceId; documentId: DocumentId },
  { documents, now }: FindDocumentDependencies,
  signal: AbortSignal,
): Promise<WorkspaceDocument | DeletedDocument | undefined> {
  const item = await documents.find(ids, signal)
  if (item === undefined || item.state === 'pending') return undefined
  const isExpired = item.state === 'ready' ? hasExpired(item, now()) : item.isExpired
  if (isExpired) throw new ServiceError('document_expired', { metadata: { document_id: ids.documentId } })
  return item
}

export function documentNotFound(documentId: DocumentId): ServiceError {
  return new ServiceError('document_not_found', { metadata: { document_id: documentId } })
}
