import type { DocumentedOperation } from './openapi.ts'

/** All operations of the API beside the promotion, by the names that log and metrics have for them. */
export const OPERATIONS = {
  list_documents: { method: 'get', path: '/files' },
  retrieve_document: { method: 'get', path: '/files/{document_id}' },
  download_document: { method: 'get', path: '/files/{document_id}/content' },
  delete_document: { method: 'delete', path: '/files/{document_id}' },
  list_container_files: { method: 'get', path: '/containers/{container_id}/files' },
  retrieve_container_file: { method: 'get', path: '/containers/{container_id}/files/{file_id}' },
  download_container_file: { method: 'get', path: '/containers/{container_id}/files/{file_id}/content' },
} as const satisfies Record<string, DocumentedOperation>

export type OperationName = keyof typeof OPERATIONS
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[]
