import type { Permission } from '../auth/caller.ts'

interface OperationEntry {
  /** Method and path, as the gateway has them. */
  route: string
  /** In functions/: what serves it. */
  function: string
  /** The permission that a standard key needs for it; omitted: every key may. */
  permission?: Permission
  query?: readonly string[]
  /** Those of HEADERS_OF_PROMOTION that it takes: the others are refused. */
  headers?: readonly string[]
  /** Members of the body. */
  body?: readonly string[]
}

/** Headers that only promotions use. */
export const HEADERS_OF_PROMOTION = [
  'Idempotency-Key',
  'If-Match',
  'File-Bytes',
  'File-Sha256',
  'Prefer',
  'File-Expires-In',
] as const
/** Clients may send these with every request: no repetition does harm, and no document is made. */
export const HEADERS_OF_ALL: readonly string[] = ['Idempotency-Key', 'File-Expires-In']
/** Headers go along with the redirect, so S3 answers `If-Match`. */
const HEADERS_OF_DOWNLOADS = [...HEADERS_OF_ALL, 'If-Match']

/**
 * The API: from here come the gateway's routes, the functions that serve them, and what a request may say besides its
 * path. docs/openapi.yaml describes the same; tests compare.
 */
export const OPERATIONS = {
  promote_container_file: {
    route: 'POST /v1/containers/{container_id}/files/{file_id}/promote',
    function: 'promote-container-file',
    permission: 'files:promote',
    headers: HEADERS_OF_PROMOTION,
    body: ['expires_in_seconds'],
  },
  promote_container_files: {
    route: 'POST /v1/containers/{container_id}/promote',
    function: 'promote-container-file',
    permission: 'files:promote',
    headers: ['File-Expires-In'],
    body: ['prefix', 'paths', 'after', 'expires_in_seconds'],
  },
  list_documents: {
    route: 'GET /v1/files',
    function: 'read-documents',
    permission: 'files:read',
    query: ['limit', 'order', 'cursor', 'page', 'after', 'after_id', 'purpose', 'ids[]', 'ids'],
  },
  retrieve_document: { route: 'GET /v1/files/{document_id}', function: 'read-documents', permission: 'files:read' },
  download_document: {
    route: 'GET /v1/files/{document_id}/content',
    function: 'read-documents',
    permission: 'files:read',
    headers: HEADERS_OF_DOWNLOADS,
  },
  delete_document: { route: 'DELETE /v1/files/{document_id}', function: 'delete-document', permission: 'files:delete' },
  list_container_files: {
    route: 'GET /v1/containers/{container_id}/files',
    function: 'read-container-files',
    permission: 'containers:read',
    query: ['limit', 'after', 'order'],
  },
  retrieve_container_file: {
    route: 'GET /v1/containers/{container_id}/files/{file_id}',
    function: 'read-container-files',
    permission: 'containers:read',
  },
  download_container_file: {
    route: 'GET /v1/containers/{container_id}/files/{file_id}/content',
    function: 'read-container-files',
    permission: 'containers:read',
    headers: HEADERS_OF_DOWNLOADS,
  },
  retrieve_key: { route: 'GET /v1/key', function: 'read-documents' },
} as const satisfies Record<string, OperationEntry>

export type OperationName = keyof typeof OPERATIONS
export const entryOf = (name: OperationName): OperationEntry => OPERATIONS[name]

/** The gateway's resource, such as `/v1/files/{document_id}`. */
export const resourceOf = (name: OperationName) => OPERATIONS[name].route.replace(/^\w+ /, '')
