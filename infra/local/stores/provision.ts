import { CreateTableCommand, type DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb'
import { CreateBucketCommand, HeadBucketCommand, type S3Client } from '@aws-sdk/client-s3'
import { unlessMissing } from '../../deploy/describe-table.ts'
import type { ServiceDefinition } from '../../deploy/service-definition.ts'

/** Creates the missing tables and buckets of serverless.yml. */
export async function provision(
  { environment, tables }: Pick<ServiceDefinition, 'environment' | 'tables'>,
  { dynamoDb: client, s3 }: { dynamoDb: DynamoDBClient; s3: S3Client },
): Promise<void> {
  for (const { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode } of tables) {
    const table = { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode }
    await client.send(new CreateTableCommand(table)).catch((error: Error) => {
      if (error.name !== 'ResourceInUseException') throw error
    })
    await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 0.05, maxDelay: 1 }, { TableName })
  }
  for (const Bucket of [environment.SANDBOX_BUCKET, environment.DOCUMENTS_BUCKET]) {
    const existing = await s3.send(new HeadBucketCommand({ Bucket })).catch(unlessMissing)
    if (existing === undefined) await s3.send(new CreateBucketCommand({ Bucket }))
  }
}
