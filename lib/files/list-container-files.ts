import { filePathOf, parseContainerId, parseFileId, type WorkspaceId } from '../ids.ts'
import type { ObjectKeys } from '../object-keys.ts'
import type { ContainerFileDescription, ContainerFiles } from './container-files.ts'
import type { Page } from './page.ts'

const MAX_KEYS = 1000

/**
 * One page of a container's files, ordered by path (UTF-8 bytes). Skips objects that no file id can name, such as
 * directory markers. An unknown container is an empty list: S3 knows only files.
 *
 * @param request.after the id of the last file seen; it may be gone
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
