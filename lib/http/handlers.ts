import type { DownloadContainerFileDependencies } from '../containers/download-container-file.ts'
import type { DownloadDocumentDependencies } from '../documents/download-document.ts'
import type { LedgerDependencies } from '../ledger/dependencies.ts'
import { type ApiDependencies, createApiHandler } from './api-handler.ts'
import { deleteDocumentOperation } from './operations/delete-document.ts'
import { downloadContainerFileOperation } from './operations/download-container-file.ts'
import { downloadDocumentOperation } from './operations/download-document.ts'
import { listContainerFilesOperation } from './operations/list-container-files.ts'
import { type ListDocumentsDependencies, listDocumentsOperation } from './operations/list-documents.ts'
import { retrieveContainerFileOperation } from './operations/retrieve-container-file.ts'
import { retrieveDocumentOperation } from './operations/retrieve-document.ts'

/** What each function serves: the operations of one permission. That of promotions is in promotion-handler.ts. */
export function createReadDocumentsHandler(
  deps: ApiDependencies & ListDocumentsDependencies & DownloadDocumentDependencies,
) {
  const operations = {
    '/v1/files': listDocumentsOperation(deps),
    '/v1/files/{document_id}': retrieveDocumentOperation(deps),
    '/v1/files/{document_id}/content': downloadDocumentOperation(deps),
  }
  return createApiHandler({ permission: 'files:read', operations }, deps)
}

export function createDeleteDocumentHandler(deps: ApiDependencies & LedgerDependencies) {
  const operations = { '/v1/files/{document_id}': deleteDocumentOperation(deps) }
  return createApiHandler({ permission: 'files:delete', operations }, deps)
}

export function createReadContainerFilesHandler(deps: ApiDependencies & DownloadContainerFileDependencies) {
  const operations = {
    '/v1/containers/{container_id}/files': listContainerFilesOperation(deps),
    '/v1/containers/{container_id}/files/{file_id}': retrieveContainerFileOperation(deps),
    '/v1/containers/{container_id}/files/{file_id}/content': downloadContainerFileOperation(deps),
  }
  return createApiHandler({ permission: 'containers:read', operations }, deps)
}
