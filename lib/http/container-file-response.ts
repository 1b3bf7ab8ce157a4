import type { ContainerFileDescription } from '../files/container-files.ts'
import type { Page } from '../files/page.ts'
import { formatFileId } from '../ids.ts'

/** A container file in the words that all libraries share: there is one shape only. */
export function containerFileResponse(file: ContainerFileDescription): Record<string, unknown> {
  return {
    id: formatFileId(file.path),
    object: 'container.file',
    container_id: file.containerId,
    path: file.path,
    bytes: file.sizeBytes,
    created_at: Math.floor(file.modifiedAt.getTime() / 1000),
    // No user uploaded it: this service has no uploads.
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
