import { GetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { TestService } from './services.ts'

/** The stores of a local service, and where in them everything is. */
type Stores = Pick<TestService, 'demo' | 'dynamoDb'>

/** As they are recorded. */
export async function documentsOf(workspaceId: string, { demo, dynamoDb }: Stores) {
  const { Items = [] } = await dynamoDb.send(
    new QueryCommand({
      TableName: demo.documents_table,
      KeyConditionExpression: 'workspace_id = :id',
      ExpressionAttributeValues: marshall({ ':id': workspaceId }),
    }),
  )
  return Items.map((item) => unmarshall(item))
}

/** The ledger, as it is stored. */
export async function workspaceItem(workspaceId: string, { demo, dynamoDb }: Stores) {
  const Key = marshall({ workspace_id: workspaceId })
  const { Item } = await dynamoDb.send(new GetItemCommand({ TableName: demo.workspaces_table, Key }))
  return unmarshall(Item ?? {})
}
