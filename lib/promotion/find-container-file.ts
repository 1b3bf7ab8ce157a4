import { ServiceError } from '../errors.ts'
import type { ContainerId, FilePath, WorkspaceId } from './ids.ts'
import type { ObjectKeys } from './object-keys.ts'
import type { ContainerFile, ObjectStore } from './ports.ts'

interface FileLocation {
  workspaceId: WorkspaceId
  containerId: ContainerId
  path: FilePath
}

/**
 * Looks a container file up in the caller's own workspace. A container of another workspace is not told apart from one
 * that does not exist.
 * @throws ServiceError container_not_found, container_file_not_found, container_file_archived
 */
export async function findContainerFile(
  location: FileLocation,
  deps: { objects: ObjectStore; objectKeys: ObjectKeys },
  signal: AbortSignal,
): Promise<ContainerFile> {
  const file = await deps.objects.findContainerFile(deps.objectKeys.sandboxFile(location), signal)
  const metadata = { container_id: location.containerId, path: location.path }
  if (file === undefined) {
    const hasContainer = await deps.objects.hasContainer(deps.objectKeys.containerPrefix(location), signal)
    throw new ServiceError(hasContainer ? 'container_file_not_found' : 'container_not_found', { metadata })
  }
  if (file.isArchived) throw new ServiceError('container_file_archived', { metadata })
  return file
}
