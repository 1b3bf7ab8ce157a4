import type { WorkspaceId } from '../ids.ts'
import type { WorkspaceLedger, WorkspaceLedgers } from '../promotion/workspace-ledgers.ts'
import type { TableSegment } from './table-workspaces.ts'

export interface DueWorkspace {
  workspaceId: WorkspaceId
  /** When it was to be looked at, ms since 1970. */
  checkDueAtMs: number
}

/** What resolver and audit need beyond single promotions. */
export interface LedgerMaintenance extends WorkspaceLedgers {
  /** The ids of all workspaces, in an order that stays as it is. @param share left out: all */
  list(signal: AbortSignal, share?: TableSegment): AsyncIterable<WorkspaceId>
  /** All workspaces with their ledgers, in no order. @throws Error at the first that cannot be read */
  readAll(signal: AbortSignal): AsyncIterable<WorkspaceLedger>
  /** The shards of the index of workspaces that are due: each workspace is in one of them, always the same. */
  readonly shards: readonly number[]
  /**
   * Workspaces of a shard that are due to be looked at, page by page, those that have waited longest first. May be behind:
   * the ledger itself tells whether one is still due.
   */
  listDue(due: { shard: number; nowMs: number }, signal: AbortSignal): AsyncIterable<DueWorkspace[]>
  /**
   * Changes the used bytes by as much as they were wrong at a version of the ledger, whatever has changed since; once only,
   * however often it is sent and by however many audits. Where there was no ledger, makes it.
   * @returns whether it is corrected; false: the ledger is another one now
   */
  correct(workspaceId: WorkspaceId, drift: Drift, signal: AbortSignal): Promise<boolean>
}

export interface Drift {
  usedBytes: number
  expectedBytes: number
  /** Versions of the ledger: at which this was so, and the last that was seen since. Not there: there was no ledger. */
  at?: { version: number; lastVersion: number }
}
