import { type DeleteDocumentDependencies, deleteDocumentForCaller } from '../files/delete-document.ts'
import { type ApiDependencies, createApiHandler, type Operation } from './api-handler.ts'
import { fileDeletedResponse } from './file-response.ts'
import { chooseDialect } from './file-shape.ts'
import { refuseParameters } from './query.ts'
import { storageUsageHeaders } from './storage-usage-headers.ts'

export type DeleteDocumentHttpDependencies = ApiDependencies & DeleteDocumentDependencies

/** DELETE /v1/files/{document_id} */
export function deleteDocumentOperation(deps: DeleteDocumentDependencies): Operation {
  return {
    name: 'delete_document',
    async handle({ event, caller: { workspaceId }, exchange, admitted }) {
      const dialect = chooseDialect(event)
      refuseParameters(event, ['provider'])
      await admitted
      const documentId = event.pathParameters?.document_id
      const request = { workspaceId, documentId, log: exchange.log }
      const deletion = await deleteDocumentForCaller(request, deps, exchange.deadline.signal)
      const { sizeBytes, usage } = deletion
      exchange.journal.note({ document_id: deletion.documentId, is_replayed: sizeBytes === undefined })
      if (sizeBytes !== undefined) exchange.counts = { Deletions: 1, DeletedBytes: sizeBytes }
      return {
        statusCode: 200,
        headers: { ...(usage && storageUsageHeaders(usage.quotaBytes, usage.usedBytes)) },
        body: JSON.stringify(fileDeletedResponse(deletion.documentId, dialect)),
      }
    },
  }
}

/** The one operation of the permission files:delete. */
export function createDeleteDocumentHandler(deps: DeleteDocumentHttpDependencies) {
  const operations = { '/v1/files/{document_id}': deleteDocumentOperation(deps) }
  return createApiHandler({ permission: 'files:delete', operations }, deps)
}
