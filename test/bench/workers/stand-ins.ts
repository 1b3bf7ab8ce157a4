import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { startDynamoDb } from '../../../infra/local/dynamodb.ts'
import { provision } from '../../../infra/local/provision.ts'
import { startS3 } from '../../../infra/local/s3.ts'
import type { ServiceDefinition } from '../../../infra/local/service-definition.ts'
import { hashToken, newToken } from '../../../lib/auth/api-token.ts'
import { readConfig } from '../../../lib/config.ts'
import { serve } from '../worker.ts'

const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' }
const CHUNK = Buffer.alloc(1024 ** 2, 'container file promotion ')

let directory = ''
let s3: S3Client

const methods = {
  /** Starts s3rver and dynalite with the tables and buckets of the template, and makes an API key. */
  async start(definition: ServiceDefinition) {
    // When the bench fails, it ends without asking for it.
    process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
    directory = await mkdtemp(join(tmpdir(), 'promotion-bench-stand-ins-'))
    const dynamoDbServer = await startDynamoDb({ directory: undefined })
    const s3Server = await startS3({ directory, credentials })
    const common = { region: 'us-east-1', credentials }
    const dynamoDb = new DynamoDBClient({ ...common, endpoint: dynamoDbServer.endpoint })
    s3 = new S3Client({ ...common, endpoint: s3Server.endpoint, forcePathStyle: true })
    await provision(definition, { dynamoDb, s3 })
    const token = newToken()
    const Item = marshall({
      token_hash: hashToken(token),
      key_id: 'key_bench',
      workspace_id: 'ws_bench',
      kind: 'management',
      status: 'enabled',
    })
    await dynamoDb.send(new PutItemCommand({ TableName: readConfig(definition.environment).keysTable, Item }))
    return { token, s3Endpoint: s3Server.endpoint, dynamoDbEndpoint: dynamoDbServer.endpoint }
  },
  async putFile({ Bucket, Key, mib }: { Bucket: string; Key: string; mib: number }): Promise<void> {
    const Body = Buffer.concat(Array.from({ length: mib }, () => CHUNK))
    await s3.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'text/plain' }))
  },
  async removeFiles(): Promise<void> {
    await rm(directory, { recursive: true, force: true })
  },
}
export type StandInMethods = typeof methods

serve(methods)
