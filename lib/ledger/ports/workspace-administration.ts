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
   * @param change.shownBytes only if that is its quota, or the new one is
   * @returns undefined when there is no such workspace
   */
  setQuota(
    workspaceId: WorkspaceId,
    change: { shownBytes: number; toBytes: number },
    signal: AbortSignal,
  ): Promise<StorageUsage | 'changed' | undefined>
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
}
