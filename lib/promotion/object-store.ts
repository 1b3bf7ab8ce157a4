/** A container file as found by the lookup. */
export interface ContainerFile {
  objectKey: string
  sizeBytes: number
  /** Pins the copy to these very bytes. */
  etag: string
  contentType: string | undefined
  contentEncoding: string | undefined
  contentLanguage: string | undefined
  /** In a storage class that must be restored before it can be read. */
  isArchived: boolean
  modifiedAt: Date
}

export interface CopyRequest {
  source: ContainerFile
  targetKey: string
  mimeType: string
}

/** The sandboxes of the containers (read only) and the durable storage of the documents. */
export interface ObjectStore {
  /** @throws ServiceError container_file_encrypted, container_file_requester_pays */
  findContainerFile(objectKey: string, signal: AbortSignal): Promise<ContainerFile | undefined>
  hasContainer(keyPrefix: string, signal: AbortSignal): Promise<boolean>
  /** The beginning of the very bytes that were looked up; all of a file that is shorter. */
  readStart(file: ContainerFile, sizeBytes: number, signal: AbortSignal): Promise<Uint8Array>
  /**
   * Copies the very bytes that were looked up. When it fails, parts of the work may be left: {@link ObjectStore.discard}
   * removes them.
   * @throws ServiceError container_file_changed, container_file_archived; `isUnanswered` when S3 may still write the object
   */
  copy(request: CopyRequest, signal: AbortSignal): Promise<void>
  /** Removes an attempt's object and its unfinished uploads; nothing there is fine. */
  discard(targetKey: string, signal: AbortSignal): Promise<void>
}
