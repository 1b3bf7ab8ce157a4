import type { ContainerFileDescription } from '../files/container-files.ts'
import type { Page } from '../files/page.ts'
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

export function containerFileListResponse({ items, hasMore }: Page<ContainerFileDescription>): Record<string, unknown> {
  const idOf = (file: ContainerFileDescription | undefined) => (file ? formatFileId(file.path) : null)
  return {
    object: 'list',
    data: items.map(containerFileResponse),
    first_id: idOf(items[0]),
    last_id: idOf(items.at(-1)),
    has_more: hasMore,
  }
}
