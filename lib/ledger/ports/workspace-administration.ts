import type { WorkspaceId } from '../../ids.ts'
import type { StorageUsage } from './quota-ledger.ts'

/** For platform teams. Safe at any time, while promotions are under way. */
export interface WorkspaceAdministration {
  /** Makes an empty workspace, unless it exists. @returns the workspace that is there now */
  create(
    workspaceId: WorkspaceId,
    quotaBytes: number,
    signal: AbortSignal,
  ): Promise<{ isNew: boolean; usage: StorageUsage }>
  /**
   * Leaves the used bytes alone. The quota may be lower than these: then nothing fits until enough is deleted.
   * @returns undefined when there is no such workspace
   */
  setQuota(
    workspaceId: WorkspaceId,
    quotaBytes: number,
    signal: AbortSignal,
  ): Promise<{ previousQuotaBytes: number; usage: StorageUsage } | undefined>
}
