import type { WorkspaceId } from '../ids.ts'

/** One of several shares of a table that are read in parallel, starting after a workspace. */
export interface TableSegment {
  segment: number
  totalSegments: number
  after?: WorkspaceId | undefined
}

export interface TableWorkspaces {
  /** Each once, in a stable order. Costs one read per workspace, however many rows it has. */
  listWorkspaces(share: TableSegment, signal: AbortSignal): AsyncIterable<WorkspaceId>
  hasWorkspace(workspaceId: WorkspaceId, signal: AbortSignal): Promise<boolean>
}
