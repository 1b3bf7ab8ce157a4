import { DeleteItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../ids.ts'
import { conditionHeld } from './conditional-write.ts'
import { send } from './send.ts'

// A workspace of an older version may lack the maps.
const COUNTS_NOTHING = 'remaining_bytes = quota_bytes'
const HAS_NONE = (map: string) => `(attribute_not_exists(${map}) OR size(${map}) = :none)`
const IS_EMPTY = [COUNTS_NOTHING, HAS_NONE('takings'), HAS_NONE('releases')].join(' AND ')
const IS_ABSENT = 'attribute_not_exists(workspace_id)'

export interface WorkspaceRemoval {
  /**
   * Removes the counter of a workspace that counts nothing and has no change under way; may be repeated. Who has a key of
   * the workspace makes it anew by promoting: its keys are to be deleted first, its documents, too. No reservation may
   * have been there after the counter was read: one without bytes is not counted, and without the counter nobody finds it.
   * @param version of the counter, as it was read; undefined: there was none
   * @returns false when it is not empty or was changed since, and then nothing was done
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
