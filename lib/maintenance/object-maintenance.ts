export interface StoredDocumentObject {
  objectKey: string
  sizeBytes: number
}

export interface UnfinishedUpload {
  objectKey: string
  startedAtMs: number
}

export interface ObjectMaintenance {
  /** Document objects by ascending key, read page by page. @param afterKey the key to begin behind */
  listObjects(keyPrefix: string, signal: AbortSignal, afterKey?: string): AsyncIterable<StoredDocumentObject>
  /** By ascending key. @param afterKey the key to begin behind */
  listUploads(keyPrefix: string, signal: AbortSignal, afterKey?: string): AsyncIterable<UnfinishedUpload>
  /**
   * What stands between the prefix and the next `/`, with both: the folders of one level, ascending.
   * @param afterPrefix the folder to begin behind
   */
  listPrefixes(keyPrefix: string, signal: AbortSignal, afterPrefix?: string): AsyncIterable<string>
  hasObject(objectKey: string, signal: AbortSignal): Promise<boolean>
  /** Aborts the unfinished uploads of a key and leaves its object alone. */
  abortUploads(objectKey: string, signal: AbortSignal): Promise<void>
}
