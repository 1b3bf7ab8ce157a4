export interface ContainerFile {
  objectKey: string
  sizeBytes: number
  /** Pins the copy to exactly these bytes. */
  etag: string
  contentType: string | undefined
  /** Empty when what is stored names no encoding of the content. */
  contentEncoding: string | undefined
  contentLanguage: string | undefined
  /** Its storage class requires a restore before it can be read. */
  isArchived: boolean
  modifiedAt: Date
}

export interface CopyRequest {
  source: ContainerFile
  targetKey: string
  mimeType: string
}

export interface ContainerLookups {
  /** @throws ServiceError container_file_encrypted, container_file_requester_pays */
  findContainerFile(objectKey: string, signal: AbortSignal): Promise<ContainerFile | undefined>
  hasContainer(keyPrefix: string, signal: AbortSignal): Promise<boolean>
}

export interface ObjectStore extends ContainerLookups {
  /** The beginning of exactly the bytes that were looked up, or all of them if there are fewer. */
  readStart(file: ContainerFile, sizeBytes: number, signal: AbortSignal): Promise<Uint8Array>
  /**
   * Copies exactly the bytes that were looked up. A failure may leave parts behind: {@link ObjectStore.discard} removes
   * them.
   * @throws ServiceError container_file_changed, container_file_archived, container_file_encrypted; `isUnanswered` when
   *   S3 may still write the object
   */
  copy(request: CopyRequest, signal: AbortSignal): Promise<void>
  /** Removes an attempt's object and its unfinished uploads, if there are any. */
  discard(targetKey: string, signal: AbortSignal): Promise<void>
}
