import { parseContainerId, parseFileId, type WorkspaceId } from '../ids.ts'
import type { ContainerFile, ContainerFileDescription, ContainerFilesDependencies } from './container-files.ts'
import { findContainerFile } from './require-container-file.ts'

export interface ContainerFileRequest {
  workspaceId: WorkspaceId
  containerId: string | undefined
  fileId: string | undefined
}

/** @throws ServiceError invalid_container_id, invalid_file_id, or as {@link findContainerFile} */
export async function describeContainerFile(
  request: ContainerFileRequest,
  { containerFiles, objectKeys }: ContainerFilesDependencies,
  signal: AbortSignal,
): Promise<ContainerFile & ContainerFileDescription> {
  const containerId = parseContainerId(request.containerId)
  const path = parseFileId(request.fileId)
  const location = { workspaceId: request.workspaceId, containerId, path }
  const file = await findContainerFile(location, { objects: containerFiles, objectKeys }, signal)
  return { ...file, containerId, path }
}
