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
  AttributeDefinitions: ['group', 'id'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [
    { AttributeName: 'group', KeyType: 'HASH' },
    { AttributeName: 'id', KeyType: 'RANGE' },
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
const get = async (id: string, ConsistentRead?: boolean) => {
  const { Item } = await execute('GetItem', { Key: marshall({ group: 'g', id }), ConsistentRead })
  return Item ? unmarshall(Item as never) : undefined
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
    await expect(put('one', large)).rejects.toMatchObject(THROTTLED)
    expect(await get('one', true)).toMatchObject({ text: 'before' })
    expect(await countUntilThrottled(() => put('one'))).toBe(2)
  })
})

it('a read that is not strongly consistent shows what was true a moment ago', async () => {
  await put('one', { color: 'red' })
  nowMs += 1000
  await put('one', { color: 'blue' })
  nowMs += STALE_MS - 1
  expect([await get('one', false), await get('one', true)]).toMatchObject([{ color: 'red' }, { color: 'blue' }])
  nowMs++
  expect(await get('one', false)).toMatchObject({ color: 'blue' })
})
