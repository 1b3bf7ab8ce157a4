import type { WorkspaceId } from '../../ids.ts'
import type { Retention } from '../expiry.ts'
import type { StorageUsage } from './quota-ledger.ts'

/** What platform teams do with workspaces. Safe at any time, even while promotions are under way. */
export interface WorkspaceAdministration {
  /** Makes an empty workspace, unless it exists. @returns the workspace that is there now */
  create(
    workspaceId: WorkspaceId,
    quotaBytes: number,
    signal: AbortSignal,
  ): Promise<{ isNew: boolean; usage: StorageUsage }>
  /**
   * Leaves the used bytes alone. The new quota may be lower: then nothing fits until enough is deleted.
   * @returns undefined when there is no such workspace
   */
  setQuota(
    workspaceId: WorkspaceId,
    quotaBytes: number,
    signal: AbortSignal,
  ): Promise<{ previousQuotaBytes: number; usage: StorageUsage } | undefined>
  /**
   * Holds for promotions from now on; documents that are there keep their expiry.
   * @param retention all of it: what is missing is removed
   * @returns whether there is such a workspace
   */
  setRetention(workspaceId: WorkspaceId, retention: Retention, signal: AbortSignal): Promise<boolean>
}
