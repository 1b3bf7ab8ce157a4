import type { WorkspaceId } from '../../ids.ts'
import type { Retention } from '../expiry.ts'
import type { Counts, WorkspaceLedger } from './ledger.ts'

/** A shard of a round, and where to go on in it. */
export interface TableShard {
  shard: number
  totalShards: number
  after?: WorkspaceId | undefined
}

export interface Drift {
  counted: Counts
  expected: Counts
  /** The version of the ledger that had the drift, and the last one seen since. Missing: there was no ledger. */
  at?: { version: number; lastVersion: number }
}

/** For platform teams and the audit. Safe at any time, even while promotions are under way. */
export interface LedgerMaintenance {
  /** The ids of all workspaces, in a stable order. @param shard omitted: all */
  list(signal: AbortSignal, shard?: TableShard): AsyncIterable<WorkspaceId>
  /** In no order. @throws Error at the first ledger that cannot be read */
  readAll(signal: AbortSignal): AsyncIterable<WorkspaceLedger>
  /**
   * Changes what is counted by the drift found at one version of the ledger, whatever has changed since. Takes effect
   * only once, even if several audits send it, or one repeats it. Makes the ledger if there was none.
   * @returns false when the ledger has been replaced since
   */
  correct(workspaceId: WorkspaceId, drift: Drift, signal: AbortSignal): Promise<boolean>
  /** Makes an empty workspace, unless it exists. @returns the workspace that is there now */
  create(
    workspaceId: WorkspaceId,
    quotaBytes: number,
    signal: AbortSignal,
  ): Promise<{ isNew: boolean; ledger: WorkspaceLedger }>
  /**
   * Leaves the used bytes alone. The new quota may be lower: then nothing fits until enough is deleted.
   * @param change.shownBytes only if that is its quota, or the new one is
   * @returns undefined when there is no such workspace
   */
  setQuota(
    workspaceId: WorkspaceId,
    change: { shownBytes: number; toBytes: number },
    signal: AbortSignal,
  ): Promise<WorkspaceLedger | 'changed' | undefined>
  /**
   * Holds for promotions from now on; documents that are there keep their expiry.
   * @param change.shown only if that is what is set
   * @param change.to all of it: what is missing is removed
   * @returns undefined when there is no such workspace
   */
  setRetention(
    workspaceId: WorkspaceId,
    change: { shown: Retention; to: Retention },
    signal: AbortSignal,
  ): Promise<'set' | 'changed' | undefined>
  /**
   * Removes the ledger of a workspace that counts nothing and has no change under way. May be repeated. Delete the keys
   * and documents of the workspace first: whoever holds a key would make it again by promoting.
   * @param version of the ledger as it was read; undefined: there was none
   * @returns false when it was not empty or has changed since: nothing was done
   */
  remove(workspaceId: WorkspaceId, version: number | undefined, signal: AbortSignal): Promise<boolean>
}
