import {
  createDeleteDocumentHandler,
  createManageWorkspacesHandler,
  createReadContainerFilesHandler,
  createReadDocumentsHandler,
  createWriteContainerFilesHandler,
} from '../../../lib/http/handlers.ts'
import { createOpenLinkHandler } from '../../../lib/http/open-link-handler.ts'
import { OPERATIONS as DECLARED, type OperationName as DeclaredName } from '../../../lib/http/operations.ts'
import { createPromoteContainerFileHandler } from '../../../lib/http/promotion-handler.ts'
import { type DocumentedOperation, PROMOTE } from './openapi.ts'

interface Tested {
  /** The status when nothing stands in the way; omitted: 200. */
  success?: number
  /** Its log line has these besides name, time, outcome and the first parameter of its path. */
  facts?: object
  /** It succeeds only where an erasure was asked for. */
  needsErasure?: true
  /** A body that succeeds, with the document's id filled in; omitted: it needs none. */
  body?: object
  /** The calls to the stores, except for key and rate limit. */
  calls: readonly string[]
}

const TESTED = {
  promote_container_files: {
    facts: { promoted: 1, kept: 0, refused: 0 },
    body: { paths: ['output/report.csv'] },
    calls: [
      ...['HeadObject', 'documents.findAll', 'ledger.read', 'documents.begin', 'CopyObject', 'ledger.hold'],
      ...['documents.record', 'ledger.capture'],
    ],
  },
  list_documents: { calls: ['documents.list', 'ledger.read'] },
  retrieve_document: { calls: ['documents.find'] },
  download_document: { success: 302, facts: { size_bytes: 8 }, calls: ['HeadObject', 'documents.find'] },
  retrieve_key: { calls: ['ledger.read'] },
  list_workspaces: { calls: ['ledger.list'] },
  retrieve_workspace: { calls: ['ledger.read'] },
  save_workspace: { body: { quota_bytes: 1000 }, calls: ['ledger.read', 'ledger.change'] },
  save_erasure: { calls: ['ledger.read', 'erasures.change'] },
  retrieve_erasure: { needsErasure: true, calls: ['ledger.read'] },
  cancel_erasure: { needsErasure: true, calls: ['ledger.read', 'erasures.change'] },
  list_keys: { calls: ['keys.list'] },
  save_key: {
    body: { permissions: ['files:read'] },
    calls: ['ledger.read', 'keys.get', 'keys.change', 'ledger.read'],
  },
  retrieve_key_by_name: { calls: ['keys.get'] },
  change_key: { body: { disabled: true }, calls: ['keys.get', 'keys.change'] },
  delete_key: { calls: ['keys.get', 'keys.remove'] },
  delete_workspace: {
    calls: [
      ...['ledger.read', 'keys.list', 'keys.remove', 'ledger.remove', 'rateLimit.setLimits'],
      ...['ledger.read', 'keys.list'],
    ],
  },
  create_link: { calls: ['documents.find', 'links.list', 'links.add'] },
  list_links: { calls: ['documents.find', 'links.list'] },
  delete_link: { calls: ['links.remove'] },
  delete_document: {
    facts: { is_replayed: false },
    calls: [
      ...['documents.find', 'documents.delete', 'ledger.beginRefund', 'documents.nameRefund', 'ledger.payRefund'],
      ...['DeleteObject', 'documents.bury'],
    ],
  },
  list_container_files: { calls: ['ListObjectsV2'] },
  retrieve_container_file: { calls: ['HeadObject'] },
  download_container_file: { success: 302, calls: ['HeadObject'] },
  create_container_file: {
    facts: { size_bytes: 8 },
    body: { file_id: '{document_id}', path: 'back/report.csv' },
    calls: ['HeadObject', 'HeadObject', 'documents.find', 'CopyObject'],
  },
  restore_container_files: {
    facts: { restored: 1, present: 0, refused: 0 },
    body: { files: [{ file_id: '{document_id}', path: 'back/report.csv' }] },
    calls: ['HeadObject', 'HeadObject', 'documents.find', 'CopyObject'],
  },
} as const satisfies Record<Exclude<DeclaredName, 'promote_container_file'>, Tested>

export type OperationName = keyof typeof TESTED
export const OPERATION_NAMES = Object.keys(TESTED) as OperationName[]

/** All operations of the API but the promotion, by the names that log and metrics have for them. */
export const OPERATIONS: Readonly<Record<OperationName, ServedOperation & Tested & { success: number }>> =
  Object.assign(
    {},
    ...OPERATION_NAMES.map((name) => ({ [name]: { success: 200, ...documented(name), ...TESTED[name] } })),
  )

export type ServedOperation = DocumentedOperation & { functionId: FunctionId }
export const PROMOTION: ServedOperation = { ...PROMOTE, functionId: 'promote-container-file' }

function documented(name: OperationName): ServedOperation {
  const { route, function: functionId } = DECLARED[name]
  const [method = '', path = ''] = route.split(' ')
  return { method: method.toLowerCase() as DocumentedOperation['method'], path: path.replace('/v1', ''), functionId }
}

export type HandlerDependencies = Parameters<typeof createPromoteContainerFileHandler>[0] &
  Parameters<typeof createReadDocumentsHandler>[0] &
  Parameters<typeof createDeleteDocumentHandler>[0] &
  Parameters<typeof createManageWorkspacesHandler>[0] &
  Parameters<typeof createReadContainerFilesHandler>[0] &
  Parameters<typeof createWriteContainerFilesHandler>[0] &
  Parameters<typeof createOpenLinkHandler>[0]

export type FunctionId = keyof ReturnType<typeof createHandlers>

/** The handlers of all functions behind the gateway, on any stores; every-operation.test.ts compares the names. */
export function createHandlers(deps: HandlerDependencies) {
  return {
    'promote-container-file': createPromoteContainerFileHandler(deps),
    'read-documents': createReadDocumentsHandler(deps),
    'delete-document': createDeleteDocumentHandler(deps),
    'manage-workspaces': createManageWorkspacesHandler(deps),
    'read-container-files': createReadContainerFilesHandler(deps),
    'write-container-files': createWriteContainerFilesHandler(deps),
    'open-link': createOpenLinkHandler(deps),
  }
}
