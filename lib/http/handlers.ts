import type { KeyDependencies } from '../administration/save-key.ts'
import type { WorkspaceDependencies } from '../administration/save-workspace.ts'
import type { DownloadContainerFileDependencies } from '../containers/download-container-file.ts'
import type { RestoreDependencies } from '../containers/restore-document.ts'
import type { LedgerDependencies } from '../ledger/dependencies.ts'
import { type ApiDependencies, createApiHandler } from './api-handler.ts'
import { containerFileOperations } from './operations/container-file-operations.ts'
import { documentDeletion, documentReads, type ReadDocumentsDependencies } from './operations/document-operations.ts'
import { type ErasureDependencies, erasureOperations } from './operations/erasure-operations.ts'
import { keyOperations } from './operations/key-operations.ts'
import { type LinkDependencies, linkOperations } from './operations/link-operations.ts'
import { ownKeyOperations, type RetrieveKeyDependencies } from './operations/own-key-operations.ts'
import { restoreOperations } from './operations/restore-operations.ts'
import { workspaceOperations } from './operations/workspace-operations.ts'

/** The handler of each function. That of promotions is in promotion-handler.ts. */
export function createReadDocumentsHandler(
  deps: ApiDependencies & ReadDocumentsDependencies & RetrieveKeyDependencies & LinkDependencies,
) {
  return createApiHandler({ ...documentReads(deps), ...ownKeyOperations(deps), ...linkOperations(deps) }, deps)
}

export function createDeleteDocumentHandler(deps: ApiDependencies & LedgerDependencies) {
  return createApiHandler(documentDeletion(deps), deps)
}

/** @param deps.administration keys and workspaces to write, beside the keys that all requests are authenticated with */
export function createManageWorkspacesHandler(
  deps: ApiDependencies & { administration: KeyDependencies & WorkspaceDependencies & ErasureDependencies },
) {
  const { administration } = deps
  const all = [workspaceOperations(administration), keyOperations(administration), erasureOperations(administration)]
  return createApiHandler(Object.assign({}, ...all), deps)
}

export function createReadContainerFilesHandler(deps: ApiDependencies & DownloadContainerFileDependencies) {
  return createApiHandler(containerFileOperations(deps), deps)
}

export function createWriteContainerFilesHandler(deps: ApiDependencies & RestoreDependencies) {
  return createApiHandler(restoreOperations(deps), deps)
}
