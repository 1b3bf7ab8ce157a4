import { type FindDocumentDependencies, findDocument } from '../../documents/find-document.ts'
import type { Operation } from '../api-handler.ts'
import { contentHeaders, fileResponse } from '../file-response.ts'

/** GET /v1/files/{document_id} */
export function retrieveDocumentOperation(deps: FindDocumentDependencies): Operation {
  return {
    async handle({ event, caller: { workspaceId }, state: { deadline, telemetry }, answerShape }) {
      const documentId = event.pathParameters?.document_id
      const document = await findDocument({ workspaceId, documentId }, deps, deadline.signal)
      telemetry.annotate({ document_id: document.documentId })
      const body = JSON.stringify(fileResponse(document, answerShape))
      return { statusCode: 200, headers: contentHeaders(document), body }
    },
  }
}
