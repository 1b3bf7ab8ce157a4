import type { ContainerFilesDependencies } from '../../containers/container-files.ts'
import { describeContainerFile } from '../../containers/describe-container-file.ts'
import type { ApiRequest, Operation } from '../api-handler.ts'
import { containerFileResponse } from '../container-file-response.ts'
import { contentHeaders } from '../file-response.ts'

/** GET /v1/containers/{container_id}/files/{file_id} */
export function retrieveContainerFileOperation(deps: ContainerFilesDependencies): Operation {
  return {
    async handle(request) {
      const { deadline, telemetry } = request.state
      const wanted = readContainerFileRequest(request)
      const { description, file } = await describeContainerFile(wanted, deps, deadline.signal)
      telemetry.annotate({ container_id: description.containerId })
      const body = JSON.stringify(containerFileResponse(description))
      return { statusCode: 200, headers: { etag: description.etag, ...contentHeaders(file) }, body }
    },
  }
}

export function readContainerFileRequest({ event: { pathParameters }, caller: { workspaceId } }: ApiRequest) {
  return { workspaceId, containerId: pathParameters?.container_id, fileId: pathParameters?.file_id }
}
