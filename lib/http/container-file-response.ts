import type { ContainerFileDescription } from '../containers/container-files.ts'
import type { listContainerFiles } from '../containers/list-container-files.ts'
import { formatFileId } from '../ids.ts'

/** There is one shape only, in the words that all libraries share. */
export function containerFileResponse(file: ContainerFileDescription): Record<string, unknown> {
  return {
    id: formatFileId(file.path),
    object: 'container.file',
    container_id: file.containerId,
    path: file.path,
    bytes: file.sizeBytes,
    created_at: Math.floor(file.modifiedAt.getTime() / 1000),
    // This service has no uploads, so no user uploaded it.
    source: 'assistant',
  }
}

/** `last_id` is what libraries send back for the next page, so it is a cursor where a page ends after other objects. */
export function containerFileListResponse({ items, next }: Awaited<ReturnType<typeof listContainerFiles>>) {
  const idOf = (file: ContainerFileDescription | undefined) => (file ? formatFileId(file.path) : null)
  return {
    object: 'list',
    data: items.map(containerFileResponse),
    first_id: idOf(items[0]),
    last_id: next ?? idOf(items.at(-1)),
    has_more: next !== undefined,
  }
}
