import type { Permission } from '../../../lib/auth/caller.ts'
import type { API_FUNCTION_NAMES } from '../package/functions.ts'
import type { DocumentedOperation } from './openapi.ts'

interface TestedOperation extends DocumentedOperation {
  /** The function behind its route. */
  functionId: Exclude<(typeof API_FUNCTION_NAMES)[number], 'promote-container-file'>
  permission: Permission
  /** The status when nothing stands in the way. */
  success: number
}

/** All operations of the API beside the promotion, by the names that log and metrics have for them. */
export const OPERATIONS = {
  list_documents: {
    method: 'get',
    path: '/files',
    functionId: 'read-documents',
    permission: 'files:read',
    success: 200,
  },
  retrieve_document: {
    method: 'get',
    path: '/files/{document_id}',
    functionId: 'read-documents',
    permission: 'files:read',
    success: 200,
  },
  download_document: {
    method: 'get',
    path: '/files/{document_id}/content',
    functionId: 'read-documents',
    permission: 'files:read',
    success: 302,
  },
  delete_document: {
    method: 'delete',
    path: '/files/{document_id}',
    functionId: 'delete-document',
    permission: 'files:delete',
    success: 200,
  },
  list_container_files: {
    method: 'get',
    path: '/containers/{container_id}/files',
    functionId: 'read-container-files',
    permission: 'containers:read',
    success: 200,
  },
  retrieve_container_file: {
    method: 'get',
    path: '/containers/{container_id}/files/{file_id}',
    functionId: 'read-container-files',
    permission: 'containers:read',
    success: 200,
  },
  download_container_file: {
    method: 'get',
    path: '/containers/{container_id}/files/{file_id}/content',
    functionId: 'read-container-files',
    permission: 'containers:read',
    success: 302,
  },
} as const satisfies Record<string, TestedOperation>

export type OperationName = keyof typeof OPERATIONS
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[]
