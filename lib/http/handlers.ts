import type { KeyDependencies } from '../administration/save-key.ts'
import type { WorkspaceDependencies } from '../administration/save-workspace.ts'
import type { DownloadContainerFileDependencies } from '../containers/download-container-file.ts'
import type { DownloadDocumentDependencies } from '../documents/download-document.ts'
import type { LedgerDependencies } from '../ledger/dependencies.ts'
import { type ApiDependencies, createApiHandler } from './api-handler.ts'
import { deleteDocumentOperation } from './operations/delete-document.ts'
import { downloadContainerFileOperation } from './operations/download-container-file.ts'
import { downloadDocumentOperation } from './operations/download-document.ts'
import { listContainerFilesOperation } from './operations/list-container-files.ts'
import { type ListDocumentsDependencies, listDocumentsOperation } from './operations/list-documents.ts'
import { keyOperations } from './operations/manage-keys.ts'
import { workspaceOperations } from './operations/manage-workspaces.ts'
import { retrieveContainerFileOperation } from './operations/retrieve-container-file.ts'
import { retrieveDocumentOperation } from './operations/retrieve-document.ts'
import { type RetrieveKeyDependencies, retrieveKeyOperation } from './operations/retrieve-key.ts'

/** The handler of each function. That of promotions is in promotion-handler.ts. */
export function createReadDocumentsHandler(
  deps: ApiDependencies & ListDocumentsDependencies & DownloadDocumentDependencies & RetrieveKeyDependencies,
) {
  const operations = {
    list_documents: listDocumentsOperation(deps),
    retrieve_document: retrieveDocumentOperation(deps),
    download_document: downloadDocumentOperation(deps),
    retrieve_key: retrieveKeyOperation(deps),
  }
  return createApiHandler(operations, deps)
}

export function createDeleteDocumentHandler(deps: ApiDependencies & LedgerDependencies) {
  return createApiHandler({ delete_document: deleteDocumentOperation(deps) }, deps)
}

/** @param deps.administration keys and workspaces to write, beside the keys that all requests are authenticated with */
export function createManageWorkspacesHandler(
  deps: ApiDependencies & { administration: KeyDependencies & WorkspaceDependencies },
) {
  const { administration } = deps
  const operations = { ...workspaceOperations(administration), ...keyOperations(administration) }
  return createApiHandler(operations, deps)
}

export function createReadContainerFilesHandler(deps: ApiDependencies & DownloadContainerFileDependencies) {
  const operations = {
    list_container_files: listContainerFilesOperation(deps),
    retrieve_container_file: retrieveContainerFileOperation(deps),
    download_container_file: downloadContainerFileOperation(deps),
  }
  return createApiHandler(operations, deps)
}
