/** The objects that attempts write, each under a key of its own. */
export interface AttemptObjects {
  /** Removes an attempt's object and its unfinished uploads, if there are any. */
  discard(objectKey: string, signal: AbortSignal): Promise<void>
}
