import { describeContainerFile } from '../../containers/describe-container-file.ts'
import {
  type DownloadContainerFileDependencies,
  downloadContainerFile,
} from '../../containers/download-container-file.ts'
import { listContainerFiles } from '../../containers/list-container-files.ts'
import { acceptsOnlyOctetStream, answer, contentHeaders, redirectTo } from '../answers.ts'
import type { ApiRequest, Operations } from '../api-handler.ts'
import { queryValue, readLimit, refuseParameter } from '../query.ts'
import { containerFileListResponse, containerFileResponse } from '../shapes.ts'

export function containerFileOperations(deps: DownloadContainerFileDependencies) {
  return {
    async list_container_files({ event, caller: { workspaceId }, state, answerShape: { shape } }) {
      const order = queryValue(event, 'order') ?? 'asc'
      if (order !== 'asc') refuseParameter('order', 'Files are listed by ascending path: only asc is allowed.')
      const containerId = event.pathParameters?.container_id
      const after = queryValue(event, 'after')
      const limit = readLimit(event, shape === 'compat_b' ? { default: 20 } : {})
      const page = await listContainerFiles({ workspaceId, containerId, after, limit }, deps, state.deadline.signal)
      state.telemetry.annotate({ container_id: containerId })
      return answer(containerFileListResponse(page, shape))
    },

    async retrieve_container_file(request) {
      const { deadline, telemetry } = request.state
      const file = await describeContainerFile(readFile(request), deps, deadline.signal)
      telemetry.annotate({ container_id: file.containerId })
      return answer(containerFileResponse(file), { etag: file.etag, ...contentHeaders(file) })
    },

    async download_container_file(request) {
      const { deadline, telemetry } = request.state
      const wanted = { ...readFile(request), asOctetStream: acceptsOnlyOctetStream(request.event) }
      const download = await downloadContainerFile(wanted, deps, deadline.signal)
      telemetry.annotate({ container_id: wanted.containerId })
      return redirectTo(download)
    },
  } satisfies Operations
}

function readFile({ event: { pathParameters }, caller: { workspaceId } }: ApiRequest) {
  return { workspaceId, containerId: pathParameters?.container_id, fileId: pathParameters?.file_id }
}
