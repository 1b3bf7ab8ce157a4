import {
  type DownloadContainerFileDependencies,
  downloadContainerFile,
} from '../../containers/download-container-file.ts'
import type { Operation } from '../api-handler.ts'
import { acceptsOnlyOctetStream, redirectTo } from '../redirect.ts'
import { readContainerFileRequest } from './retrieve-container-file.ts'

/** GET /v1/containers/{container_id}/files/{file_id}/content */
export function downloadContainerFileOperation(deps: DownloadContainerFileDependencies): Operation {
  return {
    async handle(request) {
      const { deadline, telemetry } = request.state
      const asOctetStream = acceptsOnlyOctetStream(request.event)
      const wanted = { ...readContainerFileRequest(request), asOctetStream }
      const download = await downloadContainerFile(wanted, deps, deadline.signal)
      telemetry.annotate({ container_id: wanted.containerId })
      return redirectTo(download)
    },
  }
}
