import { DynamoDBClient, PutItemCommand, ThrottlingException } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { isThrottlingError } from '@smithy/core/retry'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CREDENTIALS, type StandIns, startStandIns } from '../support/stores/stand-ins.ts'

let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns(undefined, { now: Date.now, staleMs: 0 })
})
afterAll(() => standIns.stop())

it('the embedded DynamoDB with limits throttles so that the SDK knows it', async () => {
  const connection = { region: 'us-east-1', credentials: CREDENTIALS, endpoint: standIns.dynamoDbEndpoint }
  const client = new DynamoDBClient({ ...connection, maxAttempts: 1 })
  const put = new PutItemCommand({
    TableName: standIns.config.documentsTable,
    Item: marshall({ workspace_id: 'hot', document_id: 'a', text: 'x'.repeat(300_000) }),
  })
  const writes = await Promise.allSettled(Array.from({ length: 8 }, () => client.send(put)))
  client.destroy()
  const failures = writes.flatMap((write) => (write.status === 'rejected' ? [write.reason] : []))
  expect(failures.length).toBeGreaterThan(0)
  for (const failure of failures) {
    expect(failure).toBeInstanceOf(ThrottlingException)
    expect(isThrottlingError(failure)).toBe(true)
    expect(failure.throttlingReasons).toMatchObject([{ reason: 'TableWriteKeyRangeThroughputExceeded' }])
  }
})
