import type { Permission, PlatformPermission } from '../auth/caller.ts'
import { HEADERS_OF_ALL, HEADERS_OF_PROMOTION, type RequestHeaderName } from './headers.ts'

interface OperationEntry {
  /** Method and path, as the gateway has them. */
  route: string
  /** In functions/: what serves it. */
  function: string
  /** Who may use it: standard keys with this permission and management keys; or other kinds. */
  for: Permission | 'platform' | 'any'
  /** What a platform key needs for it. */
  permission?: PlatformPermission
  /** Without a value for this setting, there is no such route. */
  setting?: 'links'
  query?: readonly string[]
  /** Those of HEADERS_OF_PROMOTION that it takes: the others are refused. Omitted: HEADERS_OF_ALL. */
  headers?: readonly RequestHeaderName[]
  body?: readonly string[]
}

/** Headers go along with the redirect, so S3 answers `If-Match`. */
const HEADERS_OF_DOWNLOADS: readonly RequestHeaderName[] = [...HEADERS_OF_ALL, 'If-Match']

const PROMOTING = { function: 'promote-container-file', for: 'files:promote' } as const
const READING = { function: 'read-documents', for: 'files:read' } as const
const SHARING = { function: 'read-documents', for: 'files:share', setting: 'links' } as const
const LOOKING = { function: 'read-container-files', for: 'containers:read' } as const
const RESTORING = { function: 'write-container-files', for: 'containers:write' } as const
const MANAGED = { function: 'manage-workspaces', for: 'platform' } as const
const CONTAINER = '/v1/containers/{container_id}'
const CONTAINER_FILE = `${CONTAINER}/files/{file_id}`
const DOCUMENT = '/v1/files/{document_id}'
const LINKS = `${DOCUMENT}/links`
const WORKSPACE = '/v1/workspaces/{workspace_id}'
const KEY = `${WORKSPACE}/keys/{name}`
const ERASURE = `${WORKSPACE}/erasure`
const MEMBERS_OF_KEYS = ['permissions', 'expires_at', 'expires_in_seconds', 'requests_per_minute'] as const

/** The API: from here come the gateway's routes, the functions that serve them, and what a request may say. */
export const OPERATIONS = {
  promote_container_file: {
    ...PROMOTING,
    route: `POST ${CONTAINER_FILE}/promote`,
    headers: HEADERS_OF_PROMOTION,
    body: ['expires_in_seconds'],
  },
  promote_container_files: {
    ...PROMOTING,
    route: `POST ${CONTAINER}/promote`,
    headers: ['File-Expires-In'],
    body: ['prefix', 'paths', 'after', 'expires_in_seconds'],
  },
  list_documents: {
    ...READING,
    route: 'GET /v1/files',
    query: [
      ...['limit', 'order', 'cursor', 'page', 'after', 'after_id'],
      ...['container_id', 'scope_id', 'purpose', 'ids[]', 'ids'],
    ],
  },
  retrieve_document: { ...READING, route: `GET ${DOCUMENT}` },
  download_document: { ...READING, route: `GET ${DOCUMENT}/content`, headers: HEADERS_OF_DOWNLOADS },
  create_link: { ...SHARING, route: `POST ${LINKS}`, body: ['expires_in_seconds', 'disposition'] },
  list_links: { ...SHARING, route: `GET ${LINKS}` },
  delete_link: { ...SHARING, route: `DELETE ${LINKS}/{link_id}` },
  delete_document: { route: `DELETE ${DOCUMENT}`, function: 'delete-document', for: 'files:delete' },
  list_container_files: { ...LOOKING, route: `GET ${CONTAINER}/files`, query: ['limit', 'after', 'order'] },
  retrieve_container_file: { ...LOOKING, route: `GET ${CONTAINER_FILE}` },
  download_container_file: { ...LOOKING, route: `GET ${CONTAINER_FILE}/content`, headers: HEADERS_OF_DOWNLOADS },
  create_container_file: { ...RESTORING, route: `POST ${CONTAINER}/files`, body: ['file_id', 'path', 'on_existing'] },
  restore_container_files: {
    ...RESTORING,
    route: `POST ${CONTAINER}/restore`,
    body: ['files', 'on_existing', 'after'],
  },
  retrieve_key: { route: 'GET /v1/key', function: 'read-documents', for: 'any' },
  list_workspaces: { ...MANAGED, route: 'GET /v1/workspaces', query: ['limit', 'cursor'] },
  retrieve_workspace: { ...MANAGED, route: `GET ${WORKSPACE}` },
  save_workspace: {
    ...MANAGED,
    route: `PUT ${WORKSPACE}`,
    body: ['quota_bytes', 'expire_after_seconds', 'expire_at_most_seconds', 'requests_per_minute', 'disabled', 'label'],
  },
  delete_workspace: { ...MANAGED, route: `DELETE ${WORKSPACE}` },
  save_erasure: { ...MANAGED, permission: 'workspaces:erase', route: `PUT ${ERASURE}`, body: ['after_seconds'] },
  retrieve_erasure: { ...MANAGED, route: `GET ${ERASURE}` },
  cancel_erasure: { ...MANAGED, permission: 'workspaces:erase', route: `DELETE ${ERASURE}` },
  list_keys: { ...MANAGED, route: `GET ${WORKSPACE}/keys`, query: ['limit', 'cursor'] },
  save_key: { ...MANAGED, route: `PUT ${KEY}`, body: ['kind', 'user_id', ...MEMBERS_OF_KEYS, 'grace_seconds'] },
  retrieve_key_by_name: { ...MANAGED, route: `GET ${KEY}` },
  change_key: { ...MANAGED, route: `PATCH ${KEY}`, body: ['disabled', ...MEMBERS_OF_KEYS] },
  delete_key: { ...MANAGED, route: `DELETE ${KEY}` },
} as const satisfies Record<string, OperationEntry>

/** What needs no key: whoever has the address of a link may open it. */
export const PUBLIC_OPERATIONS = {
  open_link: { route: 'GET /l/{token}', function: 'open-link' },
  describe_link: { route: 'HEAD /l/{token}', function: 'open-link' },
} as const

export type OperationName = keyof typeof OPERATIONS
export const entryOf = (name: OperationName): OperationEntry => OPERATIONS[name]
