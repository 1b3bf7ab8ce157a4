import type { WorkspaceId } from '../../ids.ts'
import type { TableShard } from '../../ledger/ports/ledger-maintenance.ts'

export interface TableWorkspaces {
  /** Each workspace once, in a stable order. Costs one read per workspace, however many items it has. */
  listWorkspaces(shard: TableShard, signal: AbortSignal): AsyncIterable<WorkspaceId>
  hasWorkspace(workspaceId: WorkspaceId, signal: AbortSignal): Promise<boolean>
}
