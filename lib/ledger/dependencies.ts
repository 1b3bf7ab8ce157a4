import type { Log } from '../logging.ts'
import type { Attempt, Documents } from './ports/documents.ts'
import type { Ledger } from './ports/ledger.ts'

/** The objects that attempts write, each under a key of its own. */
export interface AttemptObjects {
  /**
   * Removes an attempt's object and its unfinished uploads, if there are any.
   * @param written.versionId removes that version for good; omitted: in a versioned bucket, it stays as a former one
   * @param written.sizeBytes of a document: if it was copied whole, it has no uploads; omitted: they are looked for
   */
  discard(
    written: Pick<Attempt, 'objectKey' | 'versionId'> & { sizeBytes?: number },
    signal: AbortSignal,
  ): Promise<void>
}

/** For promotions, deletions, and whoever goes on with what they left. */
export interface LedgerDependencies {
  objects: AttemptObjects
  ledger: Ledger
  documents: Documents
  /** How long others leave alone what a process has begun: longer than a process can live. */
  leaseMs: number
  now(): number
  log: Log
}
