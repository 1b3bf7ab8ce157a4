import type { WorkspaceId } from '../../ids.ts'
import { openTable, type TableSettings } from './table.ts'

const IS_EMPTY = 'remaining_bytes = quota_bytes AND size(takings) = :none AND size(releases) = :none'
const IS_ABSENT = 'attribute_not_exists(workspace_id)'

interface WorkspaceRemoval {
  /**
   * Removes the counter of a workspace that counts nothing and has no change under way. May be repeated. Delete the
   * keys and documents of the workspace first: whoever holds a key would make it again by promoting. No reservation may
   * have existed when the counter was read: those without bytes are not counted, and without the counter nobody finds
   * them.
   * @param version of the counter as it was read; undefined: there was none
   * @returns false when it was not empty or has changed since: nothing was done
   */
  remove(workspaceId: WorkspaceId, version: number | undefined, signal: AbortSignal): Promise<boolean>
}

export function createWorkspaceRemoval(settings: TableSettings): WorkspaceRemoval {
  const table = openTable(settings)
  return {
    async remove(workspaceId, version, signal) {
      const condition = {
        ConditionExpression: version === undefined ? IS_ABSENT : `${IS_ABSENT} OR (version = :version AND ${IS_EMPTY})`,
        values: version === undefined ? undefined : { ':none': 0, ':version': version },
      }
      const options = { name: 'ledger.removeWorkspace', signal }
      return (await table.remove({ workspace_id: workspaceId }, condition, options)).applied
    },
  }
}
