import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { MAX_PARALLEL_PARTS } from './s3/copy-plan.ts'

/** The SDK itself repeats nothing: send.ts decides what is repeated. */
export const MAX_ATTEMPTS = 1
/** The SDK's 50 are too few for a process that serves hundreds of requests at once, as no Lambda does. */
const DYNAMODB_SOCKETS = 256
/** A single-item read or write takes some 5 ms: one that takes 600 times as long is lost. */
const DYNAMODB_REQUEST_TIMEOUT_MS = 3000

/** The SDK prepares log entries, but we log elsewhere. */
export function withoutLog<Client extends { middlewareStack: { remove(name: string): boolean } }>(client: Client) {
  client.middlewareStack.remove('loggerMiddleware')
  return client
}

export const connectionsOf = (maxSockets: number, more: { requestTimeout?: number } = {}) =>
  new NodeHttpHandler({
    // Waiting for a socket counts as connecting.
    connectionTimeout: 1000,
    // Otherwise the SDK only logs a warning when the time is up.
    throwOnRequestTimeout: true,
    httpsAgent: { maxSockets, keepAlive: true },
    httpAgent: { maxSockets, keepAlive: true },
    ...more,
  })

/**
 * The SDK takes region, credentials and endpoints from the environment (AWS_ENDPOINT_URL_DYNAMODB).
 * @param overrides.userAgentAppId names the caller in CloudTrail
 */
export function createDynamoDbClient(overrides: Omit<DynamoDBClientConfig, 'logger'> = {}): DynamoDBClient {
  const requestHandler = connectionsOf(DYNAMODB_SOCKETS, { requestTimeout: DYNAMODB_REQUEST_TIMEOUT_MS })
  return withoutLog(new DynamoDBClient({ maxAttempts: MAX_ATTEMPTS, requestHandler, ...overrides }))
}

/** The time for a copy depends on its size, so each S3 call brings its own limit. */
export function createS3Client(overrides: Omit<S3ClientConfig, 'logger'> = {}): S3Client {
  const settings: S3ClientConfig = {
    maxAttempts: MAX_ATTEMPTS,
    // Only ranges are read, and S3 answers those of an object in parts with a checksum of checksums, which cannot match.
    responseChecksumValidation: 'WHEN_REQUIRED',
    // One socket for each part under way, and some for other calls.
    requestHandler: connectionsOf(MAX_PARALLEL_PARTS + 8),
  }
  return withoutLog(new S3Client({ ...settings, ...overrides }))
}
