export interface StoredDocumentObject {
  objectKey: string
  sizeBytes: number
}

export interface ObjectMaintenance {
  /** Document objects by ascending key, read page by page. @param afterKey starts after it */
  listObjects(keyPrefix: string, signal: AbortSignal, afterKey?: string): AsyncIterable<StoredDocumentObject>
  /** The keys of unfinished uploads, ascending. */
  listUploads(keyPrefix: string, signal: AbortSignal): AsyncIterable<{ objectKey: string }>
  /** Folders one level below the prefix, ascending, with prefix and final `/`. @param afterPrefix starts after it */
  listPrefixes(keyPrefix: string, signal: AbortSignal, afterPrefix?: string): AsyncIterable<string>
  /** @returns `sha256` in hex, if the store keeps one; undefined when there is no such object */
  describeObject(
    objectKey: string,
    signal: AbortSignal,
  ): Promise<{ sizeBytes: number; sha256: string | undefined } | undefined>
  hasObject(objectKey: string, signal: AbortSignal): Promise<boolean>
  /** Aborts the unfinished uploads of a key, but leaves its object. */
  abortUploads(objectKey: string, signal: AbortSignal): Promise<void>
}
