import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { SQSClient } from '@aws-sdk/client-sqs'
import { connectionsOf, MAX_ATTEMPTS, UNREAD_LOG } from './clients.ts'

// In a file that only functions load which put events.

/** One for each call of a batch of 100 records, and some more. */
const SOCKETS = 16
const REQUEST_TIMEOUT_MS = 5000

const settingsOf = (userAgentAppId: string) => ({
  maxAttempts: MAX_ATTEMPTS,
  requestHandler: connectionsOf(SOCKETS, { requestTimeout: REQUEST_TIMEOUT_MS }),
  userAgentAppId,
})

export function createBusClient(userAgentAppId: string): EventBridgeClient {
  const client = new EventBridgeClient(settingsOf(userAgentAppId))
  client.middlewareStack.remove(UNREAD_LOG)
  return client
}

export function createQueueClient(userAgentAppId: string): SQSClient {
  // Otherwise the queue's URL would come before AWS_ENDPOINT_URL_SQS.
  const client = new SQSClient({ ...settingsOf(userAgentAppId), useQueueUrlAsEndpoint: false })
  client.middlewareStack.remove(UNREAD_LOG)
  return client
}
