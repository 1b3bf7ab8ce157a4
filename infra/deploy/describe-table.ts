import { DescribeTableCommand, type DynamoDBClient, type TableDescription } from '@aws-sdk/client-dynamodb'
import { statusOf } from '../../lib/aws/calls/failures.ts'

/** @returns which of the indexes cannot be read */
export function problemsInIndexes({ GlobalSecondaryIndexes = [] }: TableDescription, names: readonly string[]) {
  return names.flatMap((name) => {
    const { IndexStatus = 'missing' } = GlobalSecondaryIndexes.find(({ IndexName }) => IndexName === name) ?? {}
    return IndexStatus === 'ACTIVE' ? [] : [`its index ${name} is ${IndexStatus} (docs/deploy.md, "Indexes")`]
  })
}

/** @returns undefined when there is no such table */
export const describeTable = (TableName: string, client: DynamoDBClient, abortSignal: AbortSignal) =>
  client.send(new DescribeTableCommand({ TableName }), { abortSignal }).then(({ Table }) => Table, unlessMissing)

/** Takes AWS's answer that something is not there for undefined. @throws any other failure */
export function unlessMissing(error: Error): undefined {
  if (error.name !== 'ResourceNotFoundException' && statusOf(error) !== 404) throw error
}
