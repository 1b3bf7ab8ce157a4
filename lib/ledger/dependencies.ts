import type { Log } from '../logging.ts'
import type { ObjectKeys } from '../object-keys.ts'
import type { DocumentRecords } from './ports/document-records.ts'
import type { QuotaLedger } from './ports/quota-ledger.ts'
import type { Reservations } from './ports/reservations.ts'
import type { WorkspaceLedgers } from './ports/workspace-ledgers.ts'

/** The objects that attempts write, each under a key of its own. */
export interface AttemptObjects {
  /** Removes an attempt's object and its unfinished uploads, if there are any. */
  discard(objectKey: string, signal: AbortSignal): Promise<void>
}

/** For promotions and deletions. */
export interface LedgerDependencies {
  objects: AttemptObjects
  /** The ledger, for what changes bytes; `workspaces` is the same item, for the resolver. */
  quota: QuotaLedger
  reservations: Reservations
  documents: DocumentRecords
  /** How long an attempt or release is left alone: longer than a process can live; in a run of the resolver, its rest. */
  leaseMs: number
  now(): number
}

export interface ResolverDependencies extends LedgerDependencies {
  workspaces: WorkspaceLedgers
  objectKeys: ObjectKeys
  log: Log
}
