import type { ContainerFile, ContainerLookups } from '../../containers/container-files.ts'
import type { AttemptObjects } from '../../ledger/dependencies.ts'

export interface CopyRequest {
  source: ContainerFile
  objectKey: string
  mimeType: string
}

export interface Copied {
  /** In hex, as the store computed it. Undefined for a copy in parts, and for servers that compute none. */
  sha256: string | undefined
  /** The object's version, in a versioned bucket. */
  versionId?: string | undefined
}

export interface ObjectStore extends ContainerLookups, AttemptObjects {
  /** The beginning of exactly the bytes that were looked up, or all of them if there are fewer. */
  readStart(file: ContainerFile, sizeBytes: number, signal: AbortSignal): Promise<Uint8Array>
  /** Whether a file of this size is copied whole, so that the SHA-256 of the copy can be told. */
  copiesWhole(sizeBytes: number): boolean
  /**
   * Copies exactly the bytes that were looked up. A failure may leave parts behind, which `discard` removes.
   * @throws ServiceError container_file_changed, container_file_archived, container_file_encrypted; `isUnanswered` when
   *   S3 may still write the object
   */
  copy(request: CopyRequest, signal: AbortSignal): Promise<Copied>
}
