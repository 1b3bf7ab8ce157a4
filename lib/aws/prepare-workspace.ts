import { type DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../ids.ts'
import { conditionHeld } from './conditional-write.ts'
import { send } from './send.ts'
import { newWorkspaceItem } from './workspace-item.ts'

/** Makes the item of a workspace that has none, or adds what items of older versions lack. */
export async function prepareWorkspace(
  workspaceId: WorkspaceId,
  {
    client,
    tableName: TableName,
    defaultQuotaBytes,
  }: { client: DynamoDBClient; tableName: string; defaultQuotaBytes: number },
  signal: AbortSignal,
): Promise<void> {
  const make = new PutItemCommand({
    TableName,
    Item: marshall(newWorkspaceItem(workspaceId, defaultQuotaBytes)),
    ConditionExpression: 'attribute_not_exists(workspace_id)',
  })
  if (await conditionHeld(send(client, make, { name: 'ledger.createWorkspace', signal }))) return
  const complete = new UpdateItemCommand({
    TableName,
    Key: marshall({ workspace_id: workspaceId }),
    UpdateExpression: 'SET takings = if_not_exists(takings, :none), releases = if_not_exists(releases, :none)',
    ExpressionAttributeValues: marshall({ ':none': {} }),
  })
  await send(client, complete, { name: 'ledger.completeWorkspace', signal })
}
