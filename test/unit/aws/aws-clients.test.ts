import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { S3Client } from '@aws-sdk/client-s3'
import type { NodeHttpHandler } from '@smithy/node-http-handler'
import { afterEach, expect, it, vi } from 'vitest'
import { bundle } from '../../../infra/bundle/build.ts'
import { createDynamoDbClient, createS3Client } from '../../../lib/aws/clients.ts'
import { MAX_PARALLEL_PARTS } from '../../../lib/aws/s3/copy-plan.ts'
import { useDirectory } from '../../support/use-directory.ts'

const directory = useDirectory('clients')
afterEach(() => void vi.unstubAllEnvs())

it.each([
  [createDynamoDbClient, DynamoDBClient],
  [createS3Client, S3Client],
])('%o makes no copies for a log nobody reads', (createClient, PlainClient) => {
  const client = createClient({ region: 'us-east-1' })
  expect(client.middlewareStack.remove('loggerMiddleware')).toBe(false)
  // The name is the SDK's own: a newer one may choose another.
  expect(new PlainClient({ region: 'us-east-1' }).middlewareStack.remove('loggerMiddleware')).toBe(true)
})

it.each([
  [createDynamoDbClient, { requestTimeout: 3000, maxSockets: 256 }],
  [createS3Client, { requestTimeout: undefined, maxSockets: MAX_PARALLEL_PARTS + 8 }],
])('%o keeps as many connections as a busy process needs, and none waits for ever', async (createClient, own) => {
  const { config } = createClient({ region: 'us-east-1' })
  const handler = config.requestHandler as NodeHttpHandler
  // It reads its settings with the first request.
  await handler.handle({ protocol: 'http:', hostname: '127.0.0.1', port: 1, headers: {} } as never).catch(() => {})
  const { httpAgent, httpsAgent, ...settings } = handler.httpHandlerConfigs()
  expect(settings).toMatchObject({ connectionTimeout: 1000, throwOnRequestTimeout: true })
  expect(settings.requestTimeout).toBe(own.requestTimeout)
  for (const agent of [httpAgent, httpsAgent]) {
    expect(agent).toMatchObject({ maxSockets: own.maxSockets, keepAlive: true })
  }
})

it('in the bundle, they take new credentials from the environment when the former have expired', async () => {
  await bundle(['lib/aws/clients.ts'], { root: join(import.meta.dirname, '../../..'), outDir: directory() })
  const { createS3Client: create } = await import(join(directory(), 'clients.mjs'))
  const { config } = create()
  // As the SDK leaves it, it has accessors, and V8 copies it slowly.
  expect(Object.getOwnPropertyDescriptor(config, 'credentials')).toHaveProperty('value')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  for (const accessKeyId of ['former', 'new']) {
    vi.stubEnv('AWS_ACCESS_KEY_ID', accessKeyId)
    expect(await config.credentials()).toMatchObject({ accessKeyId })
  }
})
