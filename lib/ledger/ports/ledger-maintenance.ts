import type { WorkspaceId } from '../../ids.ts'
import type { Counts, WorkspaceLedger, WorkspaceSettings } from './ledger.ts'

/** A shard of a round, and where to go on in it. */
export interface TableShard {
  shard: number
  totalShards: number
  after?: WorkspaceId | undefined
}

export interface Drift {
  counted: Counts
  expected: Counts
  /** Which ledger had the drift, and its version then. Missing: there was none. */
  at?: { createdAtMs: number; version: number }
}

/** For platform teams and the audit. Safe at any time, even while promotions are under way. */
export interface LedgerMaintenance {
  /** The ids of a shard's workspaces, in a stable order. */
  list(signal: AbortSignal, shard: TableShard): AsyncIterable<WorkspaceId>
  /**
   * In no order, but always the same. A ledger that cannot be read comes as the workspace's id and the error.
   * @param from.after begins after this workspace, which may be gone @param from.limit of one call
   */
  readAll(
    signal: AbortSignal,
    from?: { after?: WorkspaceId | undefined; limit?: number },
  ): AsyncIterable<WorkspaceLedger | { id: string; error: unknown }>
  /**
   * Changes what is counted by the drift found at one version of the ledger, whatever has changed since. Takes effect
   * only once, even if several audits send it, or one repeats it. Makes the ledger if there was none.
   * @returns false when the ledger has been replaced since
   */
  correct(workspaceId: WorkspaceId, drift: Drift, signal: AbortSignal): Promise<boolean>
  /** Makes an empty workspace, unless it exists. @returns the workspace that is there now */
  create(
    workspaceId: WorkspaceId,
    settings: WorkspaceSettings,
    signal: AbortSignal,
  ): Promise<{ isNew: boolean; ledger: WorkspaceLedger }>
  /**
   * Leaves the used bytes alone: a new quota may be lower, then nothing fits until enough is deleted. Documents that are
   * there keep their expiry. May be repeated.
   * @param change.to missing members stay, undefined ones are removed @param change.shown what they must still be,
   *   unless all are already as wanted
   * @returns undefined when there is no such workspace
   */
  change(
    workspaceId: WorkspaceId,
    change: { shown: WorkspaceSettings; to: Partial<WorkspaceSettings> },
    signal: AbortSignal,
  ): Promise<WorkspaceLedger | 'changed' | undefined>
  /**
   * Removes the ledger of a workspace that counts no document. May be repeated. Delete the keys
   * and documents of the workspace first: whoever holds a key would make it again by promoting.
   * @param version of the ledger as it was read; undefined: there was none
   * @returns false when it was not empty or has changed since: nothing was done
   */
  remove(workspaceId: WorkspaceId, version: number | undefined, signal: AbortSignal): Promise<boolean>
}
