import { ServiceError } from '../errors.ts'
import type { Log } from '../logging.ts'
import { deleteDocument } from '../promotion/delete-document.ts'
import { type DocumentId, parseDocumentId, type WorkspaceId } from '../promotion/ids.ts'
import type { StorageUsage } from '../promotion/ports.ts'
import { documentNotFound } from './find-document.ts'
import type { DocumentListing } from './ports.ts'
import { readUsage } from './read-usage.ts'

export type DeleteDocumentDependencies = Parameters<typeof deleteDocument>[1] & {
  listing: Pick<DocumentListing, 'positionOf'>
}

export interface Deletion {
  documentId: DocumentId
  /** undefined when it was deleted before this request. */
  sizeBytes: number | undefined
  /** As it is now; undefined when it could not be read. */
  usage: StorageUsage | undefined
}

/**
 * Deletes a document for a caller. May be repeated: whoever lost the answer gets it again, as long as the deletion is
 * remembered.
 * @throws ServiceError document_not_found; promotion_in_progress while another request works on the document
 */
export async function deleteDocumentForCaller(
  request: { workspaceId: WorkspaceId; documentId: string | undefined; log: Log },
  deps: DeleteDocumentDependencies,
  signal: AbortSignal,
): Promise<Deletion> {
  const { workspaceId } = request
  const documentId = parseDocumentId(request.documentId)
  const deleted = await deleteDocument({ workspaceId, documentId }, deps, signal).catch(explainInProgress)
  if (deleted === undefined) {
    const position = await deps.listing.positionOf(workspaceId, documentId, signal)
    if (position === undefined) throw documentNotFound(documentId)
  }
  return { documentId, sizeBytes: deleted?.sizeBytes, usage: await readUsage(request, deps, signal) }
}

function explainInProgress(error: unknown): never {
  if (!(error instanceof ServiceError) || error.reason !== 'promotion_in_progress') throw error
  const detail = 'Another request promotes or deletes this very document at the moment.'
  throw new ServiceError('promotion_in_progress', { detail, cause: error })
}
