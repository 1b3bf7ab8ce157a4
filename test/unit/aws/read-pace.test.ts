import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { HttpResponse } from '@smithy/core/protocols'
import { describe, expect, it, vi } from 'vitest'
import { createReadPace, paceReads } from '../../../lib/aws/read-pace.ts'
import { CREDENTIALS } from '../../support/stores/answering-stores.ts'

function paceAt(unitsPerSecond: number) {
  const clock = { nowMs: 0, waitedMs: 0 }
  const pace = createReadPace({
    unitsPerSecond,
    now: () => clock.nowMs,
    wait: async (durationMs) => {
      clock.nowMs += durationMs
      clock.waitedMs += durationMs
    },
  })
  const spend = async (calls: number, units: number, apartMs = 0) => {
    for (let call = 0; call < calls; call++) {
      await pace.ready()
      pace.spend(units)
      clock.nowMs += apartMs
    }
  }
  return { clock, pace, spend }
}

describe('the pace of reads', () => {
  it.each([
    [100, 256, 40],
    [2000, 1, 5000],
  ])('of %i units a second is kept by calls of %i units', async (rate, units, calls) => {
    const { clock, pace, spend } = paceAt(rate)
    await spend(calls, units)
    await pace.ready()
    expect(pace.spentUnits).toBe(units * calls)
    // But for what a second without calls lets through at once.
    expect(clock.nowMs).toBeGreaterThanOrEqual(((units * calls) / rate - 1) * 1000 - 1)
    expect(clock.nowMs).toBeLessThanOrEqual(((units * calls) / rate) * 1000 + 1)
  })

  it('does not hold up a caller who is slower anyway, and saves nothing up for later', async () => {
    const { clock, pace, spend } = paceAt(100)
    await spend(50, 10, 200)
    expect(clock.waitedMs).toBe(0)
    clock.nowMs += 3_600_000
    await spend(30, 100)
    await pace.ready()
    expect(clock.waitedMs).toBeGreaterThanOrEqual(29_000 - 1)
  })

  it.each([
    ['is whole at first', 0, 0, 2],
    ['is halved by a throttled call', 1, 0, 5],
    ['is halved again by the next', 2, 0, 11],
    ['comes back by itself, a fiftieth of it in a second', 1, 10, 300 / 70 - 1],
    ['is whole again after a minute', 1, 60, 2],
  ])('%s', async (_, throttled, passedSeconds, waitedSeconds) => {
    const { pace, clock } = paceAt(100)
    clock.nowMs = 10_000
    pace.spend(0)
    for (let calls = 0; calls < throttled; calls++) pace.slowDown()
    clock.nowMs += passedSeconds * 1000
    pace.spend(300)
    await pace.ready()
    expect(clock.waitedMs / 1000).toBeCloseTo(waitedSeconds, passedSeconds === 10 ? 1 : 0)
  })
})

it('the clients of the audit pay what DynamoDB says, and one for each request to S3; what is throttled slows them down', async () => {
  const asked: string[] = []
  const answering = (statusCode: number, text: string) => {
    const handle = async ({ body }: { body: string }) => {
      asked.push(String(body))
      return { response: new HttpResponse({ statusCode, headers: {}, body: Buffer.from(text) }) }
    }
    return { region: 'us-east-1', credentials: CREDENTIALS, maxAttempts: 1, requestHandler: { handle } as never }
  }
  const dynamoDb = new DynamoDBClient(answering(200, '{"ConsumedCapacity":{"CapacityUnits":12.5}}'))
  const s3 = new S3Client(answering(200, '<ListBucketResult/>'))
  const { pace } = paceAt(1_000_000)
  const [slowDown, ready] = [vi.spyOn(pace, 'slowDown'), vi.spyOn(pace, 'ready')]
  paceReads({ dynamoDb, s3 }, pace)
  const get = new GetItemCommand({ TableName: 't', Key: { id: { S: 'x' } } })
  await dynamoDb.send(get)
  expect(JSON.parse(asked[0] ?? '')).toMatchObject({ TableName: 't', ReturnConsumedCapacity: 'TOTAL' })
  await s3.send(new ListObjectsV2Command({ Bucket: 'b' }))
  expect([pace.spentUnits, slowDown.mock.calls.length]).toEqual([13.5, 0])
  dynamoDb.config.requestHandler = answering(400, '{"__type":"ThrottlingException"}').requestHandler
  await expect(dynamoDb.send(get)).rejects.toMatchObject({ name: 'ThrottlingException' })
  expect(slowDown).toHaveBeenCalledTimes(1)
  expect(ready).toHaveBeenCalledTimes(3)
})
