import { deleteDocumentForCaller } from '../../documents/delete-document.ts'
import type { LedgerDependencies } from '../../ledger/dependencies.ts'
import type { Operation } from '../api-handler.ts'
import { fileDeletedResponse, storageUsageHeaders } from '../file-response.ts'

/** DELETE /v1/files/{document_id} */
export function deleteDocumentOperation(deps: LedgerDependencies): Operation {
  return {
    async handle({ event, caller: { workspaceId }, state, answerShape, rateLimitPassed }) {
      await rateLimitPassed
      const documentId = event.pathParameters?.document_id
      const request = { workspaceId, documentId, log: state.log }
      const deletion = await deleteDocumentForCaller(request, deps, state.deadline.signal)
      const { sizeBytes, usage } = deletion
      state.telemetry.annotate({ document_id: deletion.documentId, is_replayed: sizeBytes === undefined })
      if (sizeBytes !== undefined) state.counts = { Deletions: 1, DeletedBytes: sizeBytes }
      return {
        statusCode: 200,
        headers: { ...(usage && storageUsageHeaders(usage.quotaBytes, usage.usedBytes)) },
        body: JSON.stringify(fileDeletedResponse(deletion.documentId, answerShape)),
      }
    },
  }
}
