import { type DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../ids.ts'
import type { WorkspaceAdministration } from '../maintenance/workspace-administration.ts'
import { conditionally, conditionHeld } from './conditional-write.ts'
import { OPENING, send } from './send.ts'
import { newWorkspaceItem, readWorkspaceItem, usageOf, type WorkspaceItem } from './workspace-item.ts'

/** Retries happen only when two people set the quota at once; promotions do not interfere. */
const MAX_TRIES = 10
// The same write adds the difference to the bytes remaining, so reservations in between are kept.
const SET_QUOTA = 'SET quota_bytes = :quota_bytes, remaining_bytes = remaining_bytes + :difference ADD version :one'
const HAS_QUOTA = 'quota_bytes = :known_quota_bytes'

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
    const { Item } = await send(client, command, { name: 'ledger.read', signal })
    return Item && readWorkspaceItem(Item)
  }

  return {
    async create(workspaceId, quotaBytes, signal) {
      const item = newWorkspaceItem(workspaceId, quotaBytes)
      const command = new PutItemCommand({
        TableName,
        Item: marshall(item),
        ConditionExpression: 'attribute_not_exists(workspace_id)',
      })
      if (await conditionHeld(send(client, command, { name: 'ledger.createWorkspace', signal })))
        return { isNew: true, usage: usageOf(item) }
      const existing = await read(workspaceId, signal)
      if (existing === undefined) throw new Error(`workspace ${workspaceId} was there and is gone`)
      return { isNew: false, usage: usageOf(existing) }
    },

    async setQuota(workspaceId, quotaBytes, signal) {
      let previousQuotaBytes: number | undefined
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const item = await read(workspaceId, signal)
        if (item === undefined) return undefined
        previousQuotaBytes ??= item.quota_bytes
        if (item.quota_bytes === quotaBytes) return { previousQuotaBytes, usage: usageOf(item) }
        const changed = await trySetQuota(item, quotaBytes, signal)
        if (changed !== undefined) return { previousQuotaBytes, usage: usageOf(changed) }
      }
      throw new Error(`the quota of ${workspaceId} was changed by others under every try`)
    },
  }

  /** @returns undefined when the quota has changed since it was read */
  async function trySetQuota(
    known: WorkspaceItem,
    quotaBytes: number,
    signal: AbortSignal,
  ): Promise<WorkspaceItem | undefined> {
    const command = new UpdateItemCommand({
      TableName,
      Key: marshall({ workspace_id: known.workspace_id }),
      UpdateExpression: SET_QUOTA,
      ConditionExpression: HAS_QUOTA,
      ExpressionAttributeValues: marshall({
        ':quota_bytes': quotaBytes,
        ':difference': quotaBytes - known.quota_bytes,
        ':known_quota_bytes': known.quota_bytes,
        ':one': 1,
      }),
      ReturnValues: 'ALL_NEW',
    })
    try {
      const write = await conditionally(send(client, command, { name: 'ledger.setQuota', signal, ...OPENING }))
      return write.held ? readWorkspaceItem(write.output.Attributes ?? {}) : undefined
    } catch (error) {
      // Perhaps only its answer was lost. If not, it may still arrive, so it is not sent again.
      const item = await read(known.workspace_id as WorkspaceId, signal)
      if (item?.quota_bytes === quotaBytes) return item
      throw error
    }
  }
}
