import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { PutBucketCorsCommand, S3Client } from '@aws-sdk/client-s3'
import { readConfig } from '../../lib/config.ts'
import { startDynamoDb } from './dynamodb.ts'
import { type ServedRequest, startGateway } from './gateway.ts'
import { LOOPBACK } from './listen.ts'
import { createPage, type PageHandler } from './page.ts'
import { provision } from './provision.ts'
import { startRestartableHost } from './restartable-host.ts'
import { startS3 } from './s3.ts'
import { type Demo, seed } from './seed.ts'
import { readServiceDefinition } from './service-definition.ts'

const STAGE = 'local'

/** Written to demo.json: how to reach the service, what is in it, and where it keeps it. */
export interface DemoFileContent extends Demo {
  base_url: string
  s3_endpoint: string
  dynamodb_endpoint: string
  sandbox_bucket: string
  documents_bucket: string
  keys_table: string
  workspaces_table: string
  documents_table: string
  rate_limits_table: string
  /** Of the functions, for the administration. */
  environment: Record<string, string>
}

export interface LocalService {
  demo: DemoFileContent
  /** Resolves when the functions' process ended by itself. */
  failed: Promise<void>
  /** Restarts the functions after a build. New requests wait; requests under way are cut off. */
  restartFunctions(): Promise<void>
  stop(): Promise<void>
}

interface LocalServiceOptions {
  /** Folder of serverless.yml and of the built dist/. */
  root: string
  /** 0: any free one. */
  port: number
  /** Where the stand-ins keep their data and demo.json is written. */
  directory: string
  environment: Readonly<Record<string, string | undefined>>
  /** Where a debugger may attach to the functions. */
  inspectPort?: number | undefined
  /** Receives what the function host prints. */
  log(text: string): void
  onRequest?(request: ServedRequest): void
  /** Receives what the file system says when the embedded S3 cannot read or write. */
  onTrouble?(error: NodeJS.ErrnoException): void
}

/** Starts the built service behind a gateway on loopback, with embedded S3 and DynamoDB unless the environment names others. */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const { root, directory, environment } = options
  const running: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const stopPart of running.splice(0).reverse()) await stopPart()
  }
  const keep = <Part extends { stop(): Promise<void> }>(part: Part) => {
    running.push(() => part.stop())
    return part
  }
  try {
    await mkdir(directory, { recursive: true })
    const definition = await readServiceDefinition(root, STAGE)
    const credentials = chooseCredentials(environment)
    const dynamoDbEndpoint =
      environment.AWS_ENDPOINT_URL_DYNAMODB ??
      keep(await startDynamoDb({ directory: join(directory, 'dynamodb') })).endpoint
    const s3Endpoint =
      environment.AWS_ENDPOINT_URL_S3 ??
      keep(
        await startS3({
          directory: join(directory, 's3'),
          credentials,
          ...(options.onTrouble && { onTrouble: options.onTrouble }),
        }),
      ).endpoint

    const config = readConfig(definition.environment)
    const region = environment.AWS_REGION ?? 'us-east-1'
    const dynamoDb = new DynamoDBClient({ region, credentials, endpoint: dynamoDbEndpoint })
    const s3 = new S3Client({ region, credentials, endpoint: s3Endpoint, forcePathStyle: config.s3ForcePathStyle })
    await provision(definition, { dynamoDb, s3 })
    const demoFile = join(directory, 'demo.json')
    const demo = await seed({ dynamoDb, s3, config }, await readJson(demoFile))
    keep({
      stop: async () => {
        dynamoDb.destroy()
        s3.destroy()
      },
    })

    const host = keep(
      await startRestartableHost({
        root,
        stage: STAGE,
        env: {
          AWS_ENDPOINT_URL_S3: s3Endpoint,
          AWS_ENDPOINT_URL_DYNAMODB: dynamoDbEndpoint,
          AWS_REGION: region,
          AWS_ACCESS_KEY_ID: credentials.accessKeyId,
          AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        },
        log: options.log,
        ...(options.inspectPort !== undefined && { inspectPort: options.inspectPort }),
      }),
    )
    const { gatewayResponses, routes } = definition
    let page: PageHandler | undefined
    const gateway = keep(
      await startGateway({
        port: options.port,
        page: (...request) => page?.(...request) ?? false,
        stage: STAGE,
        lambdaPort: () => host.lambdaPort(),
        routes,
        gatewayResponses,
        corsAllowedOrigins: config.corsAllowedOrigins,
        ...(options.onRequest && { onRequest: options.onRequest }),
      }),
    )
    const baseUrl = `http://${LOOPBACK}:${gateway.port}/v1`
    const origin = new URL(baseUrl).origin
    // A server of the user's own keeps the rules that it has.
    if (!environment.AWS_ENDPOINT_URL_S3) await letPageDownload(origin, { s3, bucket: config.documentsBucket })
    page = await createPage({ root, baseUrl, demo, s3Origin: new URL(s3Endpoint).origin })
    const content: DemoFileContent = {
      base_url: baseUrl,
      ...demo,
      s3_endpoint: s3Endpoint,
      dynamodb_endpoint: dynamoDbEndpoint,
      sandbox_bucket: config.sandboxBucket,
      documents_bucket: config.documentsBucket,
      keys_table: config.keysTable,
      workspaces_table: config.workspacesTable,
      documents_table: config.documentsTable,
      rate_limits_table: config.rateLimitsTable,
      environment: definition.environment,
    }
    // Even demonstration keys are for the owner only.
    await writeFile(demoFile, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
    return { demo: content, failed: host.failed, restartFunctions: () => host.restart(), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Downloads redirect to S3, which has another origin than the page. */
async function letPageDownload(origin: string, { s3, bucket }: { s3: S3Client; bucket: string }): Promise<void> {
  const CORSRules = [{ AllowedOrigins: [origin], AllowedMethods: ['GET'] }]
  await s3.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules } }))
}

/** The embedded servers take any credentials; a server of the user's own gets those of the environment. */
function chooseCredentials(environment: LocalServiceOptions['environment']) {
  const isAllEmbedded = !environment.AWS_ENDPOINT_URL_S3 && !environment.AWS_ENDPOINT_URL_DYNAMODB
  if (isAllEmbedded) return { accessKeyId: 'local', secretAccessKey: 'local' }
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment
  if (!accessKeyId || !secretAccessKey) {
    throw new Error('AWS_ENDPOINT_URL_… is set: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for that server, too.')
  }
  return { accessKeyId, secretAccessKey }
}

async function readJson(file: string): Promise<Demo | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${file} cannot be read; start with --fresh to make it anew`, { cause: error })
  }
}
