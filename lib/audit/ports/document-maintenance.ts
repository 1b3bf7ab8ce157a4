import type { WorkspaceId } from '../../ids.ts'
import type { Attempt, DocumentItem, Stray } from '../../ledger/ports/documents.ts'
import type { TableShard } from '../../ledger/ports/ledger-maintenance.ts'

/** An item of Documents, by its key. */
export type StoredItem = (DocumentItem | Stray) & { itemId: string }

export interface DocumentMaintenance {
  /**
   * All items of a workspace by ascending key, read page by page; also tombstones that callers have forgotten.
   * @param options.onUnreadable called for each item that cannot be read; without it, the listing throws
   * @param options.after starts after this item
   */
  list(
    workspaceId: WorkspaceId,
    signal: AbortSignal,
    options?: { onUnreadable?(error: Error): Promise<void> | void; after?: string | undefined },
  ): AsyncIterable<StoredItem>
  findStray(attempt: Attempt, signal: AbortSignal): Promise<Stray | undefined>
  /** Each workspace once, in a stable order, for one read each. */
  listWorkspaces(shard: TableShard, signal: AbortSignal): AsyncIterable<WorkspaceId>
  hasWorkspace(workspaceId: WorkspaceId, signal: AbortSignal): Promise<boolean>
}
