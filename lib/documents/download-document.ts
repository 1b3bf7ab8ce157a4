import { ServiceError } from '../errors.ts'
import { dispositionOf } from '../files/content-disposition.ts'
import { type Download, type DownloadSigner, lifeOfUrl } from '../files/download.ts'
import { UNKNOWN_TYPE } from '../files/media-type.ts'
import type { WorkspaceId } from '../ids.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { Log } from '../logging.ts'
import { documentNotFound, type FindDocumentDependencies, findDocument } from './find-document.ts'

export interface DocumentObject {
  isArchived: boolean
  /** With its quotes. */
  etag: string
  contentLanguage?: string | undefined
}

export interface DocumentObjects {
  /** @returns undefined when the object is lost */
  findDocumentObject(objectKey: string, signal: AbortSignal): Promise<DocumentObject | undefined>
}

export interface DocumentContentDependencies extends FindDocumentDependencies {
  documentObjects: DocumentObjects
}

export interface DownloadDocumentDependencies extends DocumentContentDependencies {
  downloads: DownloadSigner
}

/**
 * Looks at the record and the object before it signs, so that a missing document gets our 404 and not S3's.
 * @throws ServiceError document_not_found, document_expired, file_not_downloadable
 */
export async function downloadDocument(
  request: { workspaceId: WorkspaceId; documentId: string | undefined; asOctetStream: boolean; log: Log },
  deps: DownloadDocumentDependencies,
  signal: AbortSignal,
): Promise<{ document: WorkspaceDocument; download: Download }> {
  const nowMs = deps.now()
  const document = await findDocument(request, { ...deps, now: () => nowMs }, signal)
  await requireContent(document, request.log, deps, signal)
  const { objectKey, filename, mimeType } = document
  const contentType = request.asOctetStream ? UNKNOWN_TYPE : mimeType
  const described = { objectKey, contentType, contentDisposition: dispositionOf(filename) }
  const life = lifeOfUrl(nowMs, document.expiresAt)
  return { document, download: { url: await deps.downloads.signDocument(described, life), expiresAt: life.until } }
}

/** @throws ServiceError document_not_found, file_not_downloadable */
export async function requireContent(
  document: WorkspaceDocument,
  log: Log,
  { documents, documentObjects }: DocumentContentDependencies,
  signal: AbortSignal,
): Promise<DocumentObject> {
  const { documentId } = document
  const metadata = { document_id: documentId }
  const object = await documentObjects.findDocumentObject(document.objectKey, signal)
  if (object?.isArchived) {
    const detail = 'The content was moved to archive storage and must be restored before it can be downloaded.'
    throw new ServiceError('file_not_downloadable', { detail, metadata })
  }
  if (object !== undefined) return object
  // Either deleted since the record was read, which is normal, or lost, which must be reported.
  const current = await documents.find(document, signal)
  if (current?.state !== 'ready' || current.attemptId !== document.attemptId) throw documentNotFound(documentId)
  log.error('the object of a document is lost', { document_id: documentId, attempt_id: document.attemptId })
  throw new ServiceError('file_not_downloadable', { detail: 'The content of the document is lost.', metadata })
}
