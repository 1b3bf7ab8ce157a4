import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { HttpResponse } from '@smithy/core/protocols'
import { describe, expect, it } from 'vitest'
import { createReadPace, paceReads } from '../../../lib/aws/dynamodb/read-pace.ts'

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
  return { clock, pace }
}

describe('the pace of reads', () => {
  it.each([
    [100, 256, 40],
    [2000, 1, 5000],
  ])('of %i units a second is kept by calls of %i units', async (rate, units, calls) => {
    const { clock, pace } = paceAt(rate)
    for (let call = 0; call < calls; call++) {
      await pace.ready()
      pace.spend(units)
    }
    await pace.ready()
    expect(pace.spentUnits).toBe(units * calls)
    // But for what a second without calls lets through at once.
    expect(clock.nowMs).toBeGreaterThanOrEqual(((units * calls) / rate - 1) * 1000 - 1)
    expect(clock.nowMs).toBeLessThanOrEqual(((units * calls) / rate) * 1000 + 1)
  })

  it('does not hold up a caller who is slower anyway, and saves nothing up for later', async () => {
    const { clock, pace } = paceAt(100)
    for (let call = 0; call < 50; call++) {
      await pace.ready()
      pace.spend(10)
      clock.nowMs += 200
    }
    expect(clock.waitedMs).toBe(0)
    clock.nowMs += 3_600_000
    for (let call = 0; call < 30; call++) {
      await pace.ready()
      pace.spend(100)
    }
    await pace.ready()
    expect(clock.waitedMs).toBeGreaterThanOrEqual(29_000 - 1)
  })

  it('is halved by a throttled call, again by the next, and comes back by itself', async () => {
    const secondsFor = async (setUp: (pace: ReturnType<typeof paceAt>) => void) => {
      const one = paceAt(100)
      one.clock.nowMs = 10_000
      one.pace.spend(0)
      setUp(one)
      one.pace.spend(300)
      const before = one.clock.waitedMs
      await one.pace.ready()
      return (one.clock.waitedMs - before) / 1000
    }
    expect(await secondsFor(() => {})).toBeCloseTo(2, 0)
    expect(await secondsFor(({ pace }) => pace.slowDown())).toBeCloseTo(5, 0)
    expect(
      await secondsFor(({ pace }) => {
        pace.slowDown()
        pace.slowDown()
      }),
    ).toBeCloseTo(11, 0)
    // A fiftieth of the full pace comes back in a second.
    const soon = await secondsFor(({ pace, clock }) => {
      pace.slowDown()
      clock.nowMs += 10_000
    })
    expect(soon).toBeCloseTo(300 / 70 - 1, 1)
    const later = await secondsFor(({ pace, clock }) => {
      pace.slowDown()
      clock.nowMs += 60_000
    })
    expect(later).toBeCloseTo(2, 0)
  })
})

describe('the clients of the audit', () => {
  const answer = (statusCode: number, body: string) => ({
    handle: async () => ({ response: new HttpResponse({ statusCode, headers: {}, body: Buffer.from(body) }) }),
  })
  const settings = {
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  }

  it('pay what DynamoDB says, and one for each request to S3; what is throttled slows them down', async () => {
    let asked = ''
    const dynamoDb = new DynamoDBClient({
      ...settings,
      requestHandler: {
        handle: async ({ body }: { body: string }) => {
          asked = Buffer.from(body).toString()
          return answer(200, '{"ConsumedCapacity":{"CapacityUnits":12.5}}').handle()
        },
      } as never,
    })
    const s3 = new S3Client({ ...settings, requestHandler: answer(200, '<ListBucketResult/>') as never })
    const { pace } = paceAt(1_000_000)
    let throttled = 0
    const { slowDown } = pace
    pace.slowDown = () => {
      throttled++
      slowDown()
    }
    paceReads({ dynamoDb, s3 }, pace)
    const get = new GetItemCommand({ TableName: 't', Key: { id: { S: 'x' } } })
    await dynamoDb.send(get)
    expect(JSON.parse(asked)).toMatchObject({ TableName: 't', ReturnConsumedCapacity: 'TOTAL' })
    await s3.send(new ListObjectsV2Command({ Bucket: 'b' }))
    expect([pace.spentUnits, throttled]).toEqual([13.5, 0])
    dynamoDb.config.requestHandler = answer(400, '{"__type":"ThrottlingException"}') as never
    await expect(dynamoDb.send(get)).rejects.toThrow(expect.objectContaining({ name: 'ThrottlingException' }))
    expect(throttled).toBe(1)
  })
})
