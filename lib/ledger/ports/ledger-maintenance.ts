import type { WorkspaceId } from '../../ids.ts'
import type { WorkspaceLedger, WorkspaceLedgers } from './workspace-ledgers.ts'

export interface DueWorkspace {
  workspaceId: WorkspaceId
  /** When it was due, ms since 1970. */
  checkDueAtMs: number
}

/** A shard of a round, and where to go on in it. */
export interface TableShard {
  shard: number
  totalShards: number
  after?: WorkspaceId | undefined
}

export interface LedgerMaintenance extends WorkspaceLedgers {
  /** The ids of all workspaces, in a stable order. @param shard omitted: all */
  list(signal: AbortSignal, shard?: TableShard): AsyncIterable<WorkspaceId>
  /** In no order. @throws Error at the first ledger that cannot be read */
  readAll(signal: AbortSignal): AsyncIterable<WorkspaceLedger>
  /** The shards of the index of due workspaces. A workspace never changes its shard. */
  readonly dueShards: readonly number[]
  /** A shard's due workspaces, the longest due first, in pages. May lag: the ledger itself tells whether one is due. */
  listDue(due: { shard: number; nowMs: number }, signal: AbortSignal): AsyncIterable<DueWorkspace[]>
  /**
   * Changes the used bytes by the drift found at one version of the ledger, whatever has changed since. Takes effect
   * only once, even if several audits send it, or one repeats it. Makes the ledger if there was none.
   * @returns false when the ledger has been replaced since
   */
  correct(workspaceId: WorkspaceId, drift: Drift, signal: AbortSignal): Promise<boolean>
}

interface Drift {
  usedBytes: number
  expectedBytes: number
  /** The version of the ledger that had the drift, and the last one seen since. Missing: there was no ledger. */
  at?: { version: number; lastVersion: number }
}
