import type { DocumentObject } from '../documents/download-document.ts'
import type { AttemptId, ContainerId, DocumentId, FilePath } from '../ids.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { ObjectKeys } from '../object-keys.ts'
import type { RequestScope } from '../telemetry.ts'

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
  /** Of a file that was put back. Containers can forge it. */
  restoredFrom?: RestoredFrom | undefined
  /** In hex, by S3 itself. Only told when it was asked for, and S3 has computed it. */
  sha256?: string | undefined
}

/** Which document a file was made of, and where it was put: kept in the object's metadata. */
export interface RestoredFrom {
  documentId: DocumentId
  attemptId: AttemptId
  fileId: string
}

export interface ContainerLookups {
  /** @throws ServiceError container_file_encrypted */
  findContainerFile(
    objectKey: string,
    signal: AbortSignal,
    options?: { withSha256: true },
  ): Promise<ContainerFile | undefined>
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

/** A copy of a document's object that is to be put into a container. */
export interface PutBack {
  document: Pick<WorkspaceDocument, 'objectKey' | 'sizeBytes' | 'mimeType' | 'contentEncoding'>
  object: DocumentObject
  objectKey: string
  restoredFrom: RestoredFrom
  /** The file that it may replace; undefined: none may be there. */
  over: ContainerFile | undefined
  /** Whether what is there may be this very copy. */
  isOwn(file: ContainerFile): boolean
}

export interface ContainerFileWriter {
  copiesWhole(sizeBytes: number): boolean
  /**
   * S3 judges what may be replaced when it writes, so that a late copy overwrites nothing that was written meanwhile.
   * @returns undefined: another file is there, or none any more
   * @throws ServiceError service_unavailable, request_timed_out: it may be written even so
   */
  write(
    putBack: PutBack,
    scope: Pick<RequestScope, 'deadline' | 'log'>,
  ): Promise<Pick<ContainerFile, 'etag' | 'modifiedAt'> | undefined>
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
