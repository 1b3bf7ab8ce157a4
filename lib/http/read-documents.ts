import type { DownloadDocumentDependencies } from '../files/download-document.ts'
import { type ApiDependencies, createApiHandler } from './api-handler.ts'
import { downloadDocumentOperation } from './download-document.ts'
import { type ListDocumentsDependencies, listDocumentsOperation } from './list-documents.ts'
import { retrieveDocumentOperation } from './retrieve-document.ts'

export type ReadDocumentsDependencies = ApiDependencies & ListDocumentsDependencies & DownloadDocumentDependencies

export function createReadDocumentsHandler(deps: ReadDocumentsDependencies) {
  const operations = {
    '/v1/files': listDocumentsOperation(deps),
    '/v1/files/{document_id}': retrieveDocumentOperation(deps),
    '/v1/files/{document_id}/content': downloadDocumentOperation(deps),
  }
  return createApiHandler({ permission: 'files:read', operations }, deps)
}
