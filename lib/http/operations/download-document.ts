import { type DownloadDocumentDependencies, downloadDocument } from '../../documents/download-document.ts'
import type { Operation } from '../api-handler.ts'
import { contentHeaders } from '../file-response.ts'
import { acceptsOnlyOctetStream, redirectTo } from '../redirect.ts'

/** GET /v1/files/{document_id}/content */
export function downloadDocumentOperation(deps: DownloadDocumentDependencies): Operation {
  return {
    async handle({ event, caller: { workspaceId }, state: { deadline, log, telemetry } }) {
      const documentId = event.pathParameters?.document_id
      const asOctetStream = acceptsOnlyOctetStream(event)
      const request = { workspaceId, documentId, asOctetStream, log }
      const { document, download } = await downloadDocument(request, deps, deadline.signal)
      telemetry.annotate({ document_id: document.documentId, size_bytes: document.sizeBytes })
      return redirectTo(download, contentHeaders(document))
    },
  }
}
