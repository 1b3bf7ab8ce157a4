import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda'
import { eventOf, type StreamRecord } from '../lib/aws/dynamodb/stream-record.ts'
import { createBusClient, createQueueClient } from '../lib/aws/event-clients.ts'
import { createEventBus } from '../lib/aws/events/event-bus.ts'
import { createKeptRecords } from '../lib/aws/events/kept-records.ts'
import { readVariables } from '../lib/config.ts'
import { createDeadline } from '../lib/deadline.ts'
import { publishEvents } from '../lib/events/publish-events.ts'
import { createLog } from '../lib/logging.ts'

const NAME = 'publish-events'

const config = readVariables(process.env, { serviceName: {}, eventBus: {}, eventsQueueUrl: {} })
const deps = {
  eventOf,
  bus: createEventBus({ ...config, client: createBusClient(NAME) }),
  kept: createKeptRecords({ ...config, client: createQueueClient(NAME) }),
  log: createLog({ ...config, functionName: NAME }),
}

/** Invoked with records of the stream of Documents. For a stream, one failed record says where to go on. */
export async function handler({ Records }: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> {
  const { signal } = createDeadline(() => context.getRemainingTimeInMillis())
  const failed = await publishEvents(Records as StreamRecord[], deps, signal)
  return { batchItemFailures: failed ? [{ itemIdentifier: failed.dynamodb?.SequenceNumber ?? '' }] : [] }
}
