import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { send } from '../calls/send.ts'

/** The count may be six hours old: DynamoDB counts no more often. */
export async function countItemsRoughly(
  { client, tableName: TableName }: { client: DynamoDBClient; tableName: string },
  signal: AbortSignal,
): Promise<number> {
  const { Table } = await send(client, new DescribeTableCommand({ TableName }), { name: 'ledger.countRoughly', signal })
  return Table?.ItemCount ?? 0
}
