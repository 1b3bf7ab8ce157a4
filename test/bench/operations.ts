import { newToken } from '../../lib/auth/api-token.ts'
import { OPERATIONS, type OperationName } from '../support/http/operations.ts'
import { routeEvent } from '../support/http/rest-event.ts'

/** An operation on a document as the benches make it. */
export interface MeasuredOperation {
  name: OperationName
  /** For the table. */
  title: string
  /** The function that serves it. */
  functionName: 'read-documents' | 'delete-document'
}

export const MEASURED: readonly MeasuredOperation[] = [
  { name: 'list_documents', title: 'list of 100', functionName: 'read-documents' },
  { name: 'retrieve_document', title: 'retrieve', functionName: 'read-documents' },
  { name: 'download_document', title: 'content', functionName: 'read-documents' },
  { name: 'delete_document', title: 'delete', functionName: 'delete-document' },
]

/** Any token is a valid one to the simulator, and any document is there. */
export function operationEvent(
  name: OperationName,
  { token = newToken(), documentId = 'file_16HmRr1pMNUvR8VtKc6tm' } = {},
): unknown {
  const parameters = name === 'list_documents' ? {} : { document_id: documentId }
  return routeEvent(OPERATIONS[name], { parameters, headers: { authorization: `Bearer ${token}` } })
}
