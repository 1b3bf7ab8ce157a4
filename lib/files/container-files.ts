import type { ContainerId, FilePath } from '../ids.ts'
import type { ContainerFile } from '../promotion/object-store.ts'

export interface ListedContainerFile {
  objectKey: string
  sizeBytes: number
  modifiedAt: Date
}

export interface ContainerFiles {
  findContainerFile(objectKey: string, signal: AbortSignal): Promise<ContainerFile | undefined>
  hasContainer(keyPrefix: string, signal: AbortSignal): Promise<boolean>
  /**
   * Objects under a prefix by ascending key (UTF-8 bytes), whatever their keys look like, read page by page.
   * @param request.afterKey starts after it; it need not exist
   * @param request.pageSize objects per call, at most 1,000
   */
  listContainerFiles(
    request: { keyPrefix: string; afterKey: string | undefined; pageSize: number },
    signal: AbortSignal,
  ): AsyncIterable<ListedContainerFile>
}

/** A file in a container, as callers see it. */
export interface ContainerFileDescription {
  containerId: ContainerId
  path: FilePath
  sizeBytes: number
  modifiedAt: Date
}
