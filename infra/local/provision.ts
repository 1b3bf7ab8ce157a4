import {
  CreateTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { CreateBucketCommand, HeadBucketCommand, type S3Client } from '@aws-sdk/client-s3'
import type { ServiceDefinition } from './service-definition.ts'

/** Creates the missing tables and buckets of serverless.yml. */
export async function provision(
  { environment, tables }: Pick<ServiceDefinition, 'environment' | 'tables'>,
  clients: { dynamoDb: DynamoDBClient; s3: S3Client },
): Promise<void> {
  for (const { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode } of tables) {
    const command = new CreateTableCommand({
      TableName,
      AttributeDefinitions,
      KeySchema,
      GlobalSecondaryIndexes,
      BillingMode,
    })
    await clients.dynamoDb.send(command).catch((error: Error) => {
      if (!(error instanceof ResourceInUseException)) throw error
    })
    await waitUntilTableExists(
      { client: clients.dynamoDb, maxWaitTime: 60, minDelay: 0.05, maxDelay: 1 },
      { TableName },
    )
  }
  for (const Bucket of [environment.SANDBOX_BUCKET, environment.DOCUMENTS_BUCKET]) {
    await clients.s3
      .send(new HeadBucketCommand({ Bucket }))
      .catch(async (error: { $metadata?: { httpStatusCode?: number } }) => {
        if (error.$metadata?.httpStatusCode !== 404) throw error
        await clients.s3.send(new CreateBucketCommand({ Bucket }))
      })
  }
}
