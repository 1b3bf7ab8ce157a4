import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { MAX_PARALLEL_PARTS } from './copy-plan.ts'

/** The SDK middleware that prepares log entries. We log elsewhere, so it is removed. */
export const UNREAD_LOG = 'loggerMiddleware'
/** send.ts decides what is sent again. */
const MAX_ATTEMPTS = 1
const CONNECTION_TIMEOUT_MS = 1000
/** More than the SDK's 50: hundreds of requests may share a process that is not Lambda's. */
const DYNAMODB_SOCKETS = 256
/** A single-item read or write takes some 5 ms; one that takes 600 times as long is lost. */
const DYNAMODB_REQUEST_TIMEOUT_MS = 3000

/**
 * Region, credentials and endpoints come from the environment, by the SDK's own rules (AWS_ENDPOINT_URL_DYNAMODB).
 * @param overrides.userAgentAppId tells in CloudTrail who called
 */
export function createDynamoDbClient(overrides: Omit<DynamoDBClientConfig, 'logger'> = {}): DynamoDBClient {
  const client = new DynamoDBClient({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: DYNAMODB_REQUEST_TIMEOUT_MS,
      // Waiting for a socket counts as connecting.
      httpsAgent: { maxSockets: DYNAMODB_SOCKETS, keepAlive: true },
      httpAgent: { maxSockets: DYNAMODB_SOCKETS, keepAlive: true },
      // Without this the SDK only logs a warning when the time is up.
      throwOnRequestTimeout: true,
    }),
    ...overrides,
  })
  client.middlewareStack.remove(UNREAD_LOG)
  return client
}

/** The time a copy may take depends on its size, so the S3 calls bring their own limits. */
export function createS3Client(overrides: Omit<S3ClientConfig, 'logger'> = {}): S3Client {
  const client = new S3Client({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      // One socket for each part under way, and some for other calls.
      httpsAgent: { maxSockets: MAX_PARALLEL_PARTS + 8, keepAlive: true },
      httpAgent: { maxSockets: MAX_PARALLEL_PARTS + 8, keepAlive: true },
    }),
    ...overrides,
  })
  client.middlewareStack.remove(UNREAD_LOG)
  return client
}
