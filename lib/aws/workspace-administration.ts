import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../promotion/ids.ts'
import type { WorkspaceAdministration } from '../promotion/ports.ts'
import { callAws } from './call-aws.ts'
import { newWorkspaceItem, toWorkspaceItem, usageOf, type WorkspaceItem } from './workspace-item.ts'

/** Only somebody else who sets the quota at this very moment stands in the way: promotions do not. */
const MAX_TRIES = 10
// The difference is added in the same write, on what is there then: reservations in between are kept.
const SET_QUOTA = 'SET quota_bytes = :quota_bytes, remaining_bytes = remaining_bytes + :difference'
const COUNT_CHANGES = 'ADD version :one, quota_changes :one'
const HAS_QUOTA = 'quota_bytes = :known_quota_bytes'

/** Workspaces in the Workspaces table, for platform teams. */
export function createWorkspaceAdministration({
  client,
  tableName: TableName,
}: {
  client: DynamoDBClient
  tableName: string
}): WorkspaceAdministration {
  const read = async (workspaceId: WorkspaceId, signal: AbortSignal) => {
    const command = new GetItemCommand({
      TableName,
      Key: marshall({ workspace_id: workspaceId }),
      ConsistentRead: true,
    })
    const { Item } = await callAws(signal, () => client.send(command, { abortSignal: signal }))
    return Item && toWorkspaceItem(Item)
  }

  return {
    async create(workspaceId, quotaBytes, signal) {
      const item = newWorkspaceItem(workspaceId, quotaBytes)
      const command = new PutItemCommand({
        TableName,
        Item: marshall(item),
        ConditionExpression: 'attribute_not_exists(workspace_id)',
      })
      try {
        await callAws(signal, () => client.send(command, { abortSignal: signal }))
        return { isNew: true, usage: usageOf(item) }
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error
        const existing = await read(workspaceId, signal)
        if (existing === undefined) throw new Error(`workspace ${workspaceId} was there and is gone`, { cause: error })
        return { isNew: false, usage: usageOf(existing) }
      }
    },

    async setQuota(workspaceId, quotaBytes, signal) {
      let previousQuotaBytes: number | undefined
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const item = await read(workspaceId, signal)
        if (item === undefined) return undefined
        previousQuotaBytes ??= item.quota_bytes
        // It may be there already because of a write of ours whose answer was lost.
        if (item.quota_bytes === quotaBytes) return { previousQuotaBytes, usage: usageOf(item) }
        const changed = await trySetQuota(item, quotaBytes, signal)
        if (changed !== undefined) return { previousQuotaBytes, usage: usageOf(changed) }
      }
      throw new Error(`the quota of ${workspaceId} was changed by others under every try`)
    },
  }

  /** @returns undefined when the quota was changed since it was read */
  async function trySetQuota(
    known: WorkspaceItem,
    quotaBytes: number,
    signal: AbortSignal,
  ): Promise<WorkspaceItem | undefined> {
    // Not the quota alone: a repetition of this write may arrive when somebody has set the quota back.
    const isUnchanged =
      known.quota_changes === undefined ? 'attribute_not_exists(quota_changes)' : 'quota_changes = :known_changes'
    const command = new UpdateItemCommand({
      TableName,
      Key: marshall({ workspace_id: known.workspace_id }),
      UpdateExpression: `${SET_QUOTA} ${COUNT_CHANGES}`,
      ConditionExpression: `${HAS_QUOTA} AND ${isUnchanged}`,
      ExpressionAttributeValues: marshall({
        ':quota_bytes': quotaBytes,
        ':difference': quotaBytes - known.quota_bytes,
        ':known_quota_bytes': known.quota_bytes,
        ':one': 1,
        ...(known.quota_changes === undefined ? {} : { ':known_changes': known.quota_changes }),
      }),
      ReturnValues: 'ALL_NEW',
    })
    try {
      const { Attributes = {} } = await callAws(signal, () => client.send(command, { abortSignal: signal }))
      return toWorkspaceItem(Attributes)
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return undefined
      throw error
    }
  }
}
