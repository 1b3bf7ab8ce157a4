import { API_FUNCTIONS, type FunctionEntry } from '../../../infra/deploy/functions.ts'
import {
  createDeleteDocumentHandler,
  createManageWorkspacesHandler,
  createReadContainerFilesHandler,
  createReadDocumentsHandler,
} from '../../../lib/http/handlers.ts'
import { OPERATIONS as DECLARED, type OperationName as DeclaredName } from '../../../lib/http/operations.ts'
import { createPromoteContainerFileHandler } from '../../../lib/http/promotion-handler.ts'
import type { DocumentedOperation } from './openapi.ts'

interface Tested {
  /** The status when nothing stands in the way. */
  success: number
  /** Its log line has these besides name, time and outcome: path parameters by their names, and what is given here. */
  facts: readonly ['document_id' | 'container_id' | 'workspace_id', object?] | readonly []
  /** A body that succeeds; omitted: it needs none. */
  body?: object
  /** The calls to the stores, except for key and rate limit. */
  calls: readonly string[]
}

const TESTED = {
  promote_container_files: {
    success: 200,
    facts: ['container_id', { promoted: 1, kept: 0, refused: 0 }],
    body: { paths: ['output/report.csv'] },
    calls: [
      ...['HeadObject', 'documents.findAll', 'ledger.read', 'documents.begin', 'CopyObject', 'ledger.take'],
      ...['documents.record', 'ledger.unmark'],
    ],
  },
  list_documents: {
    success: 200,
    facts: [],
    calls: ['documents.list', 'ledger.read'],
  },
  retrieve_document: {
    success: 200,
    facts: ['document_id'],
    calls: ['documents.find'],
  },
  download_document: {
    success: 302,
    facts: ['document_id', { size_bytes: 8 }],
    calls: ['HeadObject', 'documents.find'],
  },
  retrieve_key: {
    success: 200,
    facts: [],
    calls: ['ledger.read'],
  },
  list_workspaces: { success: 200, facts: [], calls: ['ledger.list'] },
  retrieve_workspace: { success: 200, facts: ['workspace_id'], calls: ['ledger.read'] },
  save_workspace: {
    success: 200,
    facts: ['workspace_id'],
    body: { quota_bytes: 1000 },
    calls: ['ledger.read', 'ledger.change'],
  },
  list_keys: { success: 200, facts: ['workspace_id'], calls: ['keys.list'] },
  save_key: {
    success: 200,
    facts: ['workspace_id'],
    body: { permissions: ['files:read'] },
    calls: ['ledger.read', 'keys.get', 'keys.change', 'ledger.read'],
  },
  retrieve_key_by_name: { success: 200, facts: ['workspace_id'], calls: ['keys.get'] },
  change_key: {
    success: 200,
    facts: ['workspace_id'],
    body: { disabled: true },
    calls: ['keys.get', 'keys.change'],
  },
  delete_key: { success: 200, facts: ['workspace_id'], calls: ['keys.get', 'keys.remove'] },
  delete_workspace: {
    success: 200,
    facts: ['workspace_id'],
    calls: [...['ledger.read', 'keys.list', 'keys.remove', 'ledger.read', 'ledger.remove', 'ledger.read'], 'keys.list'],
  },
  delete_document: {
    success: 200,
    facts: ['document_id', { is_replayed: false }],
    calls: [
      ...['documents.find', 'documents.delete', 'ledger.mark', 'documents.handOver', 'ledger.giveBack'],
      ...['DeleteObject', 'documents.bury'],
    ],
  },
  list_container_files: {
    success: 200,
    facts: ['container_id'],
    calls: ['ListObjectsV2'],
  },
  retrieve_container_file: {
    success: 200,
    facts: ['container_id'],
    calls: ['HeadObject'],
  },
  download_container_file: {
    success: 302,
    facts: ['container_id'],
    calls: ['HeadObject'],
  },
} as const satisfies Record<Exclude<DeclaredName, 'promote_container_file'>, Tested>

export type OperationName = keyof typeof TESTED
export const OPERATION_NAMES = Object.keys(TESTED) as OperationName[]

/** All operations of the API but the promotion, by the names that log and metrics have for them. */
export const OPERATIONS: Readonly<Record<OperationName, DocumentedOperation & Tested>> = Object.assign(
  {},
  ...OPERATION_NAMES.map((name) => ({ [name]: { ...documented(name), ...TESTED[name] } })),
)

function documented(name: OperationName): DocumentedOperation {
  const [method = '', path = ''] = DECLARED[name].route.split(' ')
  return { method: method.toLowerCase() as DocumentedOperation['method'], path: path.replace('/v1', '') }
}

/** The function behind a route, with its permission. */
export function functionOf({ method, path }: DocumentedOperation): FunctionEntry & { name: FunctionId } {
  const route = `${method.toUpperCase()} /v1${path}`
  const found = API_FUNCTIONS.find(({ routes }) => routes?.includes(route))
  if (found === undefined) throw new Error(`no file of infra/resources/functions has the route ${route}`)
  return found as FunctionEntry & { name: FunctionId }
}

export type HandlerDependencies = Parameters<typeof createPromoteContainerFileHandler>[0] &
  Parameters<typeof createReadDocumentsHandler>[0] &
  Parameters<typeof createDeleteDocumentHandler>[0] &
  Parameters<typeof createManageWorkspacesHandler>[0] &
  Parameters<typeof createReadContainerFilesHandler>[0]

export type FunctionId = keyof ReturnType<typeof createHandlers>

/** The handlers of all functions behind the gateway, on any stores; every-operation.test.ts compares the names. */
export function createHandlers(deps: HandlerDependencies) {
  return {
    'promote-container-file': createPromoteContainerFileHandler(deps),
    'read-documents': createReadDocumentsHandler(deps),
    'delete-document': createDeleteDocumentHandler(deps),
    'manage-workspaces': createManageWorkspacesHandler(deps),
    'read-container-files': createReadContainerFilesHandler(deps),
  }
}
