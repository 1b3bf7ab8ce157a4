import {
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  type TableDescription,
} from '@aws-sdk/client-dynamodb'

/** @returns which of the indexes cannot be read */
export function problemsInIndexes({ GlobalSecondaryIndexes = [] }: TableDescription, names: readonly string[]) {
  return names.flatMap((name) => {
    const { IndexStatus = 'missing' } = GlobalSecondaryIndexes.find(({ IndexName }) => IndexName === name) ?? {}
    return IndexStatus === 'ACTIVE' ? [] : [`its index ${name} is ${IndexStatus} (docs/deploy.md, "Indexes")`]
  })
}

/** @returns undefined when there is no such table */
export async function describeTable(
  TableName: string,
  client: DynamoDBClient,
  abortSignal: AbortSignal,
): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }), { abortSignal })).Table
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined
    throw error
  }
}
