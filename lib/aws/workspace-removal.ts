import { DeleteItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../ids.ts'
import { conditionHeld } from './conditional-write.ts'
import { send } from './send.ts'

// An item of an older release may lack the maps.
const COUNTS_NOTHING = 'remaining_bytes = quota_bytes'
const HAS_NONE = (map: string) => `(attribute_not_exists(${map}) OR size(${map}) = :none)`
const IS_EMPTY = [COUNTS_NOTHING, HAS_NONE('takings'), HAS_NONE('releases')].join(' AND ')
const IS_ABSENT = 'attribute_not_exists(workspace_id)'

export interface WorkspaceRemoval {
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

export function createWorkspaceRemoval({
  client,
  tableName: TableName,
}: {
  client: DynamoDBClient
  tableName: string
}): WorkspaceRemoval {
  return {
    async remove(workspaceId, version, signal) {
      const command = new DeleteItemCommand({
        TableName,
        Key: marshall({ workspace_id: workspaceId }),
        ConditionExpression: version === undefined ? IS_ABSENT : `${IS_ABSENT} OR (version = :version AND ${IS_EMPTY})`,
        ...(version !== undefined && { ExpressionAttributeValues: marshall({ ':none': 0, ':version': version }) }),
      })
      return conditionHeld(send(client, command, { name: 'ledger.removeWorkspace', signal }))
    },
  }
}
