import type { ContainerFilesDependencies } from '../../containers/container-files.ts'
import { listContainerFiles } from '../../containers/list-container-files.ts'
import type { Operation } from '../api-handler.ts'
import { containerFileListResponse } from '../container-file-response.ts'
import { queryValue, readLimit, refuseParameter } from '../query.ts'

/** GET /v1/containers/{container_id}/files */
export function listContainerFilesOperation(deps: ContainerFilesDependencies): Operation {
  return {
    async handle({ event, caller: { workspaceId }, state: { deadline, telemetry }, answerShape: { shape } }) {
      const order = queryValue(event, 'order') ?? 'asc'
      if (order !== 'asc') refuseParameter('order', 'Files are listed by ascending path: only asc is allowed.')
      const containerId = event.pathParameters?.container_id
      const after = queryValue(event, 'after')
      const limit = readLimit(event, shape === 'compat_b' ? { default: 20 } : {})
      const page = await listContainerFiles({ workspaceId, containerId, after, limit }, deps, deadline.signal)
      telemetry.annotate({ container_id: containerId })
      return { statusCode: 200, body: JSON.stringify(containerFileListResponse(page, shape)) }
    },
  }
}
