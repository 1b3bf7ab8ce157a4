import type { WorkspaceId } from '../ids.ts'
import type { StorageUsage } from '../promotion/quota-ledger.ts'

/** What platform teams do with workspaces, at any time: promotions may be under way. */
export interface WorkspaceAdministration {
  /**
   * Makes a workspace with nothing in it, unless there is one.
   * @returns the workspace that is there now
   */
  create(
    workspaceId: WorkspaceId,
    quotaBytes: number,
    signal: AbortSignal,
  ): Promise<{ isNew: boolean; usage: StorageUsage }>
  /**
   * Changes the quota and leaves the used bytes alone. A quota below these is fine: nothing more fits in until enough is
   * deleted.
   * @returns undefined when there is no such workspace
   */
  setQuota(
    workspaceId: WorkspaceId,
    quotaBytes: number,
    signal: AbortSignal,
  ): Promise<{ previousQuotaBytes: number; usage: StorageUsage } | undefined>
}
