import { ServiceError } from '../errors.ts'
import { isDirectoryOrLink } from '../files/media-type.ts'
import { filePathOf, formatFileId, parseContainerId, parseFileId, type WorkspaceId } from '../ids.ts'
import type { ContainerFileDescription, ContainerFilesDependencies } from './container-files.ts'
import { formatKeyCursor, parseKeyCursor } from './key-cursor.ts'

/** Pages of keys. The first may take three calls, so that S3 is called at most twelve times. */
const MAX_PAGES = 10
/** The page is what was found within this time. */
const LISTING_MS = 4500

/**
 * One page of a container's files, ordered by path (UTF-8 bytes). Skips objects that no file id can name, such as
 * directories, whose keys end in a slash, and Hadoop's. Shows empty objects that only their Content-Type gives away as
 * directories or links: a listing does not have it. If very many are skipped, or S3 stops answering, the page ends
 * before it is full, and may even be empty. An unknown container is an empty list: S3 knows only files.
 * @param request.after the id of the last file seen, which may be gone; or the `next` of another page
 * @returns `next`: what the next page comes after; undefined on the last page
 * @throws ServiceError invalid_container_id, invalid_file_id, invalid_cursor, service_unavailable
 */
export async function listContainerFiles(
  request: {
    workspaceId: WorkspaceId
    containerId: string | undefined
    prefix?: string
    after: string | undefined
    limit: number
  },
  { containerFiles, objectKeys }: ContainerFilesDependencies,
  signal: AbortSignal,
): Promise<{ items: ContainerFileDescription[]; next: string | undefined }> {
  const { workspaceId, prefix = '', after, limit } = request
  const containerId = parseContainerId(request.containerId)
  const keyPrefix = objectKeys.containerPrefix({ workspaceId, containerId })
  const keyOf = (id: string) => objectKeys.sandboxFile({ workspaceId, containerId, path: parseFileId(id) })
  const afterKey = after === undefined ? undefined : (parseKeyCursor(keyPrefix, after) ?? keyOf(after))
  const query = { keyPrefix: keyPrefix + prefix, afterKey, firstPage: limit + 1 }
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(LISTING_MS)])
  const items: ContainerFileDescription[] = []
  let pages = 0
  let seenKey: string | undefined
  let failure: unknown
  try {
    for await (const { files, isLast } of containerFiles.listContainerFiles(query, inTime)) {
      for (const { objectKey, sizeBytes, etag, modifiedAt } of files) {
        const path = isDirectoryOrLink(objectKey, sizeBytes) ? undefined : filePathOf(objectKey.slice(keyPrefix.length))
        const last = items.at(-1)
        if (path !== undefined && last && items.length === limit) return { items, next: formatFileId(last.path) }
        if (path !== undefined) items.push({ containerId, path, sizeBytes, etag, modifiedAt })
        seenKey = objectKey
      }
      if (isLast) return { items, next: undefined }
      if (++pages === MAX_PAGES) break
    }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 503) throw error
    failure = error
  }
  if (seenKey === undefined) throw new ServiceError('service_unavailable', { cause: failure })
  return { items, next: formatKeyCursor(keyPrefix, seenKey) }
}
