import type { WorkspaceId } from '../ids.ts'

/** A share of a table, one of several that are read side by side, from behind a workspace on. */
export interface TableSegment {
  segment: number
  totalSegments: number
  after?: WorkspaceId | undefined
}

/** Which workspaces a table has rows of. */
export interface TableWorkspaces {
  /** Each once, in an order that stays as it is. It costs one read for each, however many rows it has. */
  listWorkspaces(share: TableSegment, signal: AbortSignal): AsyncIterable<WorkspaceId>
  hasWorkspace(workspaceId: WorkspaceId, signal: AbortSignal): Promise<boolean>
}
