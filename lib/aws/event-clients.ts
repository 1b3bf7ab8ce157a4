import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { SQSClient } from '@aws-sdk/client-sqs'
import { connectionsOf, MAX_ATTEMPTS, UNREAD_LOG } from './clients.ts'

/** One for each call of a batch of 100 records, and some more. */
const SOCKETS = 16
const REQUEST_TIMEOUT_MS = 5000

/** Of the function publish-events, in a file that no other loads. */
export function createEventClients(userAgentAppId: string) {
  const settings = () => ({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: connectionsOf(SOCKETS, { requestTimeout: REQUEST_TIMEOUT_MS }),
    userAgentAppId,
  })
  const eventBridge = new EventBridgeClient(settings())
  // Otherwise the queue's URL would come before AWS_ENDPOINT_URL_SQS.
  const sqs = new SQSClient({ ...settings(), useQueueUrlAsEndpoint: false })
  for (const { middlewareStack } of [eventBridge, sqs]) middlewareStack.remove(UNREAD_LOG)
  return { eventBridge, sqs }
}
