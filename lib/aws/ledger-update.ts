import { type DynamoDBClient, UpdateItemCommand, type UpdateItemCommandOutput } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../ids.ts'
import type { MarkerId } from '../promotion/quota-ledger.ts'
import { type SendOptions, send } from './send.ts'
import { checkShardOf } from './workspace-item.ts'

export const HAS_ROOM = 'remaining_bytes >= :size_bytes'
export const IS_NEW_MARKER = 'attribute_not_exists(#markers.#marker)'
export const IS_NOT_CROWDED = 'size(#markers) < :most'
export const IS_MARKED = 'attribute_exists(#markers.#marker)'

// The amount comes from the marker itself, so it is always what was taken.
export const GIVE_BACK = 'remaining_bytes = remaining_bytes + #markers.#marker.n'
export const MARK = '#markers.#marker = :marker'
export const REMOVE_MARKER = 'REMOVE #markers.#marker'
/** The first change since the resolver looked puts the workspace into its index; later ones leave it where it is. */
export const SCHEDULE_CHECK = 'check_due_at = if_not_exists(check_due_at, :due_at), check_shard = :shard'
export const COUNT_CHANGE = 'ADD version :one'
/** For the end of an undo. */
export const COUNT_UNDONE = 'ADD version :one, undos :one'

export interface LedgerUpdate {
  UpdateExpression: string
  /** How the change is counted; omitted: like any other. */
  count?: string
  ConditionExpression: string
  values?: Record<string, unknown>
  ReturnValues?: 'ALL_NEW'
  ReturnValuesOnConditionCheckFailure?: 'ALL_OLD'
}

export function updateLedger(
  { client, tableName: TableName }: { client: DynamoDBClient; tableName: string },
  { workspaceId, attemptId, releaseId }: MarkerId,
  options: SendOptions,
  { values = {}, count = COUNT_CHANGE, ...expressions }: LedgerUpdate,
): Promise<UpdateItemCommandOutput> {
  const command = new UpdateItemCommand({
    TableName,
    Key: marshall({ workspace_id: workspaceId }),
    ...expressions,
    UpdateExpression: `${expressions.UpdateExpression} ${count}`,
    ExpressionAttributeNames: {
      '#markers': releaseId === undefined ? 'takings' : 'releases',
      '#marker': releaseId ?? attemptId,
    },
    ExpressionAttributeValues: marshall({ ...values, ':one': 1 }),
  })
  return send(client, command, options)
}

/** The values of {@link SCHEDULE_CHECK}. */
export function checkValues({ workspaceId, leaseExpiresAtMs }: { workspaceId: WorkspaceId; leaseExpiresAtMs: number }) {
  return { ':due_at': leaseExpiresAtMs, ':shard': checkShardOf(workspaceId) }
}
