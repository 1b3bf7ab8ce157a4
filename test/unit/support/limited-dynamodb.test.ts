import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Content } from '../../support/dynamodb/dynalite.ts'
import {
  type Consumption,
  createLimitedDynamoDb,
  type LimitedDynamoDb,
} from '../../support/dynamodb/limited-dynamodb.ts'

const STALE_MS = 100
const TABLE = {
  TableName: 'things',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['group', 'id', 'check_shard'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [
    { AttributeName: 'group', KeyType: 'HASH' },
    { AttributeName: 'id', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'by-shard',
      KeySchema: [{ AttributeName: 'check_shard', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
}
const THROTTLED = { body: { __type: 'com.amazon.coral.availability#ThrottlingException' } }

let nowMs: number
let calls: Consumption[]
let dynamoDb: LimitedDynamoDb

beforeEach(async () => {
  nowMs = 0
  calls = []
  dynamoDb = createLimitedDynamoDb({ now: () => nowMs, staleMs: STALE_MS, onCall: (call) => calls.push(call) })
  await dynamoDb.execute('CreateTable', TABLE)
})

const execute = (operation: string, input: Content) => dynamoDb.execute(operation, { TableName: 'things', ...input })
const put = (id: string, attributes: object = {}) =>
  execute('PutItem', { Item: marshall({ group: 'g', id, ...attributes }) })
const remove = (id: string) => execute('DeleteItem', { Key: marshall({ group: 'g', id }) })
const get = async (id: string, ConsistentRead?: boolean) => {
  const { Item } = await execute('GetItem', { Key: marshall({ group: 'g', id }), ConsistentRead })
  return Item && unmarshall(Item as never)
}
const countUntilThrottled = async (write: () => Promise<unknown>): Promise<number> => {
  for (let count = 0; ; count++) {
    try {
      await write()
    } catch (error) {
      expect(error).toMatchObject(THROTTLED)
      return count
    }
  }
}

describe('the throughput of an item', () => {
  it('is 1,000 write units a second, and one second of it at once', async () => {
    expect(await countUntilThrottled(() => put('one'))).toBe(1000)
    nowMs += 30
    expect(await countUntilThrottled(() => put('one'))).toBe(30)
    nowMs += 3_600_000
    expect(await countUntilThrottled(() => put('one'))).toBe(1000)
  })

  it('is used up by writes whose condition fails, at the size of what is there', async () => {
    await put('one', { text: 'x'.repeat(4000) })
    const Item = marshall({ group: 'g', id: 'one' })
    const refused = () =>
      execute('PutItem', { Item, ConditionExpression: 'attribute_not_exists(id)' }).catch((error) => {
        if (!String(error.body.__type).endsWith('#ConditionalCheckFailedException')) throw error
      })
    expect(await countUntilThrottled(refused)).toBe(249)
    expect(calls.at(-2)).toMatchObject({ units: 4, outcome: 'condition_failed' })
  })

  it('is 3,000 read units a second, half of one for a read that need not be consistent', async () => {
    expect(await countUntilThrottled(() => get('one', true))).toBe(3000)
    expect(await countUntilThrottled(() => get('two', false))).toBe(6000)
  })

  it('does nothing when it throttles, and takes no units', async () => {
    await put('one', { text: 'before' })
    await countUntilThrottled(() => put('one', { text: 'before' }))
    nowMs += 2
    const large = { text: 'x'.repeat(3000) }
    await expect(put('one', large)).rejects.toMatchObject({
      statusCode: 400,
      body: { throttlingReasons: [{ reason: 'TableWriteKeyRangeThroughputExceeded', resource: expect.any(String) }] },
    })
    expect(await get('one', true)).toMatchObject({ text: 'before' })
    expect(await countUntilThrottled(() => put('one'))).toBe(2)
  })
})

describe('a read that is not strongly consistent', () => {
  const query = async (parameters: Content) => {
    const { Items } = await execute('Query', {
      KeyConditionExpression: '#g = :g',
      ExpressionAttributeNames: { '#g': 'group' },
      ExpressionAttributeValues: marshall({ ':g': 'g' }),
      ...parameters,
    })
    return (Items as never[]).map((item) => unmarshall(item).id)
  }
  const byShard = () =>
    query({
      IndexName: 'by-shard',
      KeyConditionExpression: 'check_shard = :s',
      ExpressionAttributeNames: undefined,
      ExpressionAttributeValues: marshall({ ':s': 's' }),
    })

  beforeEach(async () => {
    await put('old', { check_shard: 's', color: 'red' })
    nowMs += 1000
    await put('old', { check_shard: 's', color: 'blue' })
    await put('new', { check_shard: 's' })
  })

  it('shows what was true before', async () => {
    expect(await get('old')).toMatchObject({ color: 'red' })
    expect(await get('new')).toBeUndefined()
    expect(await query({})).toEqual(['old'])
    expect(await byShard()).toEqual(['old'])
    expect((await execute('Scan', {})).Count).toBe(1)
  })

  it('shows what is true a moment later', async () => {
    await remove('old')
    nowMs += STALE_MS
    expect(await get('old')).toBeUndefined()
    expect(await query({})).toEqual(['new'])
    expect(await byShard()).toEqual(['new'])
  })

  it('does so only when it was not asked to be consistent', async () => {
    expect(await get('old', true)).toMatchObject({ color: 'blue' })
    expect(await get('new', true)).toMatchObject({ id: 'new' })
    expect(await query({ ConsistentRead: true })).toEqual(['new', 'old'])
    expect((await execute('Scan', { ConsistentRead: true })).Count).toBe(2)
  })

  it('is refused on an index when asked to be consistent', async () => {
    await expect(query({ IndexName: 'by-shard', ConsistentRead: true })).rejects.toMatchObject({ statusCode: 400 })
  })
})
