import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { SQSClient } from '@aws-sdk/client-sqs'
import { connectionsOf, MAX_ATTEMPTS, withoutLog } from './clients.ts'

// In a file that only functions load which put events.

/** One for each call of a batch of 100 records, and some more. */
const SOCKETS = 16
const REQUEST_TIMEOUT_MS = 5000

const settingsOf = (userAgentAppId: string) => ({
  maxAttempts: MAX_ATTEMPTS,
  requestHandler: connectionsOf(SOCKETS, { requestTimeout: REQUEST_TIMEOUT_MS }),
  userAgentAppId,
})

export const createBusClient = (userAgentAppId: string) => withoutLog(new EventBridgeClient(settingsOf(userAgentAppId)))

// Otherwise the queue's URL would come before AWS_ENDPOINT_URL_SQS.
export const createQueueClient = (userAgentAppId: string) =>
  withoutLog(new SQSClient({ ...settingsOf(userAgentAppId), useQueueUrlAsEndpoint: false }))
