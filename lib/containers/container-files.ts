import type { ContainerId, FilePath } from '../ids.ts'
import type { ObjectKeys } from '../object-keys.ts'

/** The one form of an ETag here: some servers leave the quotes out, and some proxies make it weak, which S3 never does. */
export function quotedEtag(etag: string): string {
  const tag = etag.replace(/^W\//, '')
  return tag.endsWith('"') ? tag : `"${tag}"`
}

interface ListedContainerFile {
  objectKey: string
  sizeBytes: number
  /** Pins the copy to exactly these bytes. Always as {@link quotedEtag} has it. */
  etag: string
  modifiedAt: Date
}

export interface ContainerFile extends ListedContainerFile {
  /** Where the bucket is versioned: what is written to the key later is another version. */
  versionId?: string | undefined
  contentType: string | undefined
  /** Empty when what is stored names no encoding of the content. */
  contentEncoding: string | undefined
  contentLanguage: string | undefined
  /** Its storage class requires a restore before it can be read. */
  isArchived: boolean
}

export interface ContainerLookups {
  /** @throws ServiceError container_file_encrypted */
  findContainerFile(objectKey: string, signal: AbortSignal): Promise<ContainerFile | undefined>
  hasContainer(keyPrefix: string, signal: AbortSignal): Promise<boolean>
}

export interface ContainerFiles extends ContainerLookups {
  /**
   * Objects under a prefix by ascending key (UTF-8 bytes), whatever their keys look like. Each page is one call; only
   * the first is repeated after a failure.
   * @param request.afterKey starts after it; it need not exist
   * @param request.firstPage objects in the first page, at most 1,000; all others have 1,000
   */
  listContainerFiles(
    request: { keyPrefix: string; afterKey: string | undefined; firstPage: number },
    signal: AbortSignal,
  ): AsyncIterable<{ files: ListedContainerFile[]; isLast: boolean }>
}

export interface ContainerFilesDependencies {
  containerFiles: ContainerFiles
  objectKeys: ObjectKeys
}

/** A file in a container, as callers see it. */
export interface ContainerFileDescription extends Omit<ListedContainerFile, 'objectKey'> {
  containerId: ContainerId
  path: FilePath
}
