import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { S3 } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, inject } from 'vitest'
import type { ServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { startDynamoDb } from '../../../infra/local/stores/dynamodb.ts'
import { provision } from '../../../infra/local/stores/provision.ts'
import { startS3 } from '../../../infra/local/stores/s3.ts'
import { readConfig } from '../../../lib/config.ts'

export const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' }

export type StandIns = Awaited<ReturnType<typeof startStandIns>>

/** Fresh embedded stores with the tables and buckets of serverless.yml, empty. */
export async function startStandIns(
  definition: Pick<ServiceDefinition, 'environment' | 'tables'> = inject('definition'),
) {
  const directory = await mkdtemp(join(tmpdir(), 'promotion-test-'))
  const dynamoDbServer = await startDynamoDb({ directory: undefined })
  const s3Server = await startS3({ directory, credentials: CREDENTIALS })
  const common = { region: 'us-east-1', credentials: CREDENTIALS }
  const dynamoDb = new DynamoDB({ ...common, endpoint: dynamoDbServer.endpoint })
  const s3 = new S3({ ...common, endpoint: s3Server.endpoint })
  await provision(definition, { dynamoDb, s3 })
  return {
    config: readConfig(definition.environment),
    dynamoDb,
    s3,
    dynamoDbEndpoint: dynamoDbServer.endpoint,
    s3Endpoint: s3Server.endpoint,
    async stop() {
      dynamoDb.destroy()
      s3.destroy()
      await dynamoDbServer.stop()
      await s3Server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Stand-ins for all tests of a file, or of a suite. */
export function useStandIns(): () => StandIns {
  let standIns: StandIns
  beforeAll(async () => {
    standIns = await startStandIns()
  })
  afterAll(() => standIns.stop())
  return () => standIns
}
