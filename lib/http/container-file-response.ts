import type { ContainerFileDescription } from '../containers/container-files.ts'
import type { listContainerFiles } from '../containers/list-container-files.ts'
import { formatFileId } from '../ids.ts'
import type { FileShape } from './file-shape.ts'
import { itemsThatFit } from './items-that-fit.ts'

/** There is one shape only, in the words that all libraries share. Its ETag is added for those who know it. */
export function containerFileResponse(file: ContainerFileDescription, shape?: FileShape): Record<string, unknown> {
  return {
    id: formatFileId(file.path),
    object: 'container.file',
    container_id: file.containerId,
    path: file.path,
    bytes: file.sizeBytes,
    created_at: Math.floor(file.modifiedAt.getTime() / 1000),
    // This service has no uploads, so no user uploaded it.
    source: 'assistant',
    ...(shape === 'native' && { etag: file.etag }),
  }
}

/** `last_id` is what libraries send back for the next page, so it is a cursor where a page ends behind other objects. */
export function containerFileListResponse(
  { items, next }: Awaited<ReturnType<typeof listContainerFiles>>,
  shape: FileShape,
) {
  const data = itemsThatFit(items.map((file) => containerFileResponse(file, shape)))
  const isCut = data.length < items.length
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: (isCut ? undefined : next) ?? data.at(-1)?.id ?? null,
    has_more: isCut || next !== undefined,
  }
}
