import type { AttemptObjects } from '../ledger/dependencies.ts'
import type { Log } from '../logging.ts'
import type { Documents } from './ports/documents.ts'
import type { Ledger } from './ports/ledger.ts'

export interface ProtocolDependencies {
  objects: AttemptObjects
  ledger: Ledger
  documents: Documents
  /** After it, others look at what a process has left: longer than a process can live. */
  leaseMs: number
  now(): number
  log: Log
}
