import type { WorkspaceId } from '../../ids.ts'
import type { Erasure } from '../../ledger/ports/ledger.ts'

/** The erasures of workspaces, which are a part of their ledgers. For what all methods may throw see `Ledger`. */
export interface Erasures {
  /** The workspaces whose erasures have a step due by then, the longest due first. The index lags. */
  listDue(byMs: number, signal: AbortSignal): AsyncIterable<WorkspaceId>
  /**
   * The only write that asks for an erasure, takes it back, claims it, or says how far it has come.
   * @param shown as it was read: if it has changed since, nothing is done. undefined: there was none
   * @returns false: nothing was done
   */
  change(
    workspaceId: WorkspaceId,
    change: { shown: Erasure | undefined; to: Erasure | undefined },
    signal: AbortSignal,
  ): Promise<boolean>
  /** Sets what the ledger counts to nothing, and removes holds, refunds and settings, while an erasure is at work on it. */
  clear(workspaceId: WorkspaceId, signal: AbortSignal): Promise<void>
  /** Removes items of a workspace's documents, whatever they are, page by page. @returns how many in each */
  removeItems(workspaceId: WorkspaceId, signal: AbortSignal): AsyncIterable<number>
}

/** What the buckets have of a workspace, by the prefixes of its keys. */
export interface ErasedObjects {
  /**
   * Deletes every version, delete marker and unfinished upload that the bucket lists.
   * @returns how many went; how many S3 has refused to delete, and why, by the name of its error; or that it lists nothing to us
   */
  erase(
    from: { bucket: 'documents' | 'sandbox'; workspaceId: WorkspaceId },
    signal: AbortSignal,
  ): Promise<{ erased: number; refused: number; reason?: string; isDenied?: true }>
}
