import type { WorkspaceId } from '../../ids.ts'
import type { TableSegment } from '../../ledger/ports/ledger-maintenance.ts'

export interface TableWorkspaces {
  /** Each workspace once, in a stable order. Costs one read per workspace, however many rows it has. */
  listWorkspaces(segment: TableSegment, signal: AbortSignal): AsyncIterable<WorkspaceId>
  hasWorkspace(workspaceId: WorkspaceId, signal: AbortSignal): Promise<boolean>
}
