import type { Log } from '../logging.ts'
import type { Documents } from './ports/documents.ts'
import type { Ledger } from './ports/ledger.ts'

/** The objects that attempts write, each under a key of its own. */
export interface AttemptObjects {
  /**
   * Removes an attempt's object and its unfinished uploads, if there are any.
   * @param versionId removes that version for good; omitted: in a versioned bucket, it stays as a former one
   */
  discard(objectKey: string, signal: AbortSignal, versionId?: string): Promise<void>
}

/** For promotions, deletions, and whoever goes on with what they left. */
export interface LedgerDependencies {
  objects: AttemptObjects
  ledger: Ledger
  documents: Documents
  /** After it, others look at what a process has left: longer than a process can live. */
  leaseMs: number
  now(): number
  log: Log
}
