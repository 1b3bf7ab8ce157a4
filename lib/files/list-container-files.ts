import { filePathOf, parseContainerId, parseFileId, type WorkspaceId } from '../ids.ts'
import type { ObjectKeys } from '../object-keys.ts'
import type { ContainerFileDescription, ContainerFiles } from './container-files.ts'
import type { Page } from './page.ts'

const MAX_KEYS = 1000

/**
 * One page of a container's files in the order of their paths (UTF-8 bytes). Objects that no file id can stand for, such as
 * the markers of directories, are passed over. A container that nobody has heard of is an empty list: S3 knows no
 * containers, only files.
 *
 * @param request.after the id of the last file seen; it need not be there any more
 * @throws ServiceError invalid_container_id, invalid_file_id
 */
export async function listContainerFiles(
  request: { workspaceId: WorkspaceId; containerId: string | undefined; after: string | undefined; limit: number },
  { containerFiles, objectKeys }: { containerFiles: ContainerFiles; objectKeys: ObjectKeys },
  signal: AbortSignal,
): Promise<Page<ContainerFileDescription>> {
  const { workspaceId, limit } = request
  const containerId = parseContainerId(request.containerId)
  const keyPrefix = objectKeys.containerPrefix({ workspaceId, containerId })
  const afterKey =
    request.after === undefined
      ? undefined
      : objectKeys.sandboxFile({ workspaceId, containerId, path: parseFileId(request.after) })
  const items: ContainerFileDescription[] = []
  const query = { keyPrefix, afterKey, pageSize: Math.min(limit + 1, MAX_KEYS) }
  for await (const { objectKey, sizeBytes, modifiedAt } of containerFiles.listContainerFiles(query, signal)) {
    const path = filePathOf(objectKey.slice(keyPrefix.length))
    if (path === undefined) continue
    if (items.length === limit) return { items, hasMore: true }
    items.push({ containerId, path, sizeBytes, modifiedAt })
  }
  return { items, hasMore: false }
}
