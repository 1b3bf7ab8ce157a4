import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { S3Client } from '@aws-sdk/client-s3'
import { readConfig } from '../../../lib/config.ts'
import type { ServiceDefinition } from '../../deploy/service-definition.ts'
import { type Access, LOOPBACK } from '../loopback.ts'
import { type DemoFileContent, readDemoFile } from './demo-file.ts'
import { type OnWrite, startDynamoDb } from './dynamodb.ts'
import { provision } from './provision.ts'
import { startS3 } from './s3.ts'
import { seed } from './seed.ts'

export interface LocalStoresOptions extends Access {
  definition: ServiceDefinition
  directory: string
  environment: Readonly<Record<string, string | undefined>>
  s3Port?: number
  dynamoDbPort?: number
  onWrite?: OnWrite
}

/** Starts stores, embedded unless the environment names others, with tables, buckets and the demonstration. */
export async function startLocalStores(options: LocalStoresOptions) {
  const { definition, directory, environment } = options
  await using starting = new AsyncDisposableStack()
  const keep = <Part extends { stop(): Promise<void> }>(part: Part) => starting.adopt(part, (each) => each.stop())
  const credentials = chooseCredentials(environment)
  const variables = { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey }
  const dynamoDbEndpoint =
    environment.AWS_ENDPOINT_URL_DYNAMODB ||
    keep(await startDynamoDb({ ...options, directory: join(directory, 'dynamodb') })).endpoint
  const s3Endpoint =
    environment.AWS_ENDPOINT_URL_S3 ||
    keep(await startS3({ ...options, credentials, directory: join(directory, 's3') })).endpoint

  const config = readConfig(definition.environment)
  const region = environment.AWS_REGION || 'us-east-1'
  const dynamoDb = new DynamoDBClient({ region, credentials, endpoint: dynamoDbEndpoint })
  const s3 = new S3Client({ region, credentials, endpoint: s3Endpoint, forcePathStyle: config.s3ForcePathStyle })
  starting.defer(() => {
    dynamoDb.destroy()
    s3.destroy()
  })
  await provision(definition, { dynamoDb, s3 })
  const demo = await seed({ dynamoDb, s3, config }, await readDemoFile(directory))
  const inContainers = (url: string) => url.replace(`//${LOOPBACK}:`, `//${options.host ?? LOOPBACK}:`)
  const s3InContainers = environment.AWS_ENDPOINT_URL_S3 ? (url: string) => url : inContainers
  const running = starting.move()
  return {
    config,
    s3InContainers,
    s3,
    /** For the functions' process, so that they reach the stores. */
    environment: {
      ...{ AWS_ENDPOINT_URL_S3: s3Endpoint, AWS_ENDPOINT_URL_DYNAMODB: dynamoDbEndpoint },
      ...{ AWS_REGION: region, ...variables },
    },
    demoFile: (baseUrl: string): DemoFileContent => ({
      base_url: baseUrl,
      ...(options.host && {
        base_url_in_containers: inContainers(baseUrl),
        s3_endpoint_in_containers: s3InContainers(s3Endpoint),
      }),
      ...demo,
      ...(credentials === EMBEDDED && { aws_credentials: variables }),
      s3_endpoint: s3Endpoint,
      dynamodb_endpoint: dynamoDbEndpoint,
      sandbox_bucket: config.sandboxBucket,
      documents_bucket: config.documentsBucket,
      keys_table: config.keysTable,
      workspaces_table: config.workspacesTable,
      documents_table: config.documentsTable,
      environment: definition.environment,
    }),
    stop: () => running.disposeAsync(),
  }
}

const EMBEDDED = { accessKeyId: 'local', secretAccessKey: 'local' }

/** The embedded servers have their own credentials; a server of the user's own gets those of the environment. */
function chooseCredentials(environment: LocalStoresOptions['environment']) {
  if (!environment.AWS_ENDPOINT_URL_S3 && !environment.AWS_ENDPOINT_URL_DYNAMODB) return EMBEDDED
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment
  if (!accessKeyId || !secretAccessKey)
    throw new Error('AWS_ENDPOINT_URL_… is set: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for that server, too.')
  return { accessKeyId, secretAccessKey }
}
