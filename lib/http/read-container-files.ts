import type { DownloadContainerFileDependencies } from '../files/download-container-file.ts'
import { type ApiDependencies, createApiHandler } from './api-handler.ts'
import { downloadContainerFileOperation } from './download-container-file.ts'
import { listContainerFilesOperation } from './list-container-files.ts'
import { retrieveContainerFileOperation } from './retrieve-container-file.ts'

export type ReadContainerFilesDependencies = ApiDependencies & DownloadContainerFileDependencies

export function createReadContainerFilesHandler(deps: ReadContainerFilesDependencies) {
  const operations = {
    '/v1/containers/{container_id}/files': listContainerFilesOperation(deps),
    '/v1/containers/{container_id}/files/{file_id}': retrieveContainerFileOperation(deps),
    '/v1/containers/{container_id}/files/{file_id}/content': downloadContainerFileOperation(deps),
  }
  return createApiHandler({ permission: 'containers:read', operations }, deps)
}
