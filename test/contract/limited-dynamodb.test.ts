import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  ThrottlingException,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { isThrottlingError } from '@smithy/core/retry'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDynamoDb } from '../../infra/local/stores/dynamodb.ts'
import { startLimitedDynamoDb } from '../support/dynamodb/start-limited-dynamodb.ts'
import { CREDENTIALS } from '../support/stores/stand-ins.ts'

const TableName = 'things'
const TABLE: CreateTableCommandInput = {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'w', AttributeType: 'S' },
    { AttributeName: 'd', AttributeType: 'S' },
    { AttributeName: 'due', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'w', KeyType: 'HASH' },
    { AttributeName: 'd', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'due',
      KeySchema: [
        { AttributeName: 'w', KeyType: 'HASH' },
        { AttributeName: 'due', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    },
  ],
}

const id = fc.constantFrom('a', 'b', 'c')
const amount = fc.integer({ min: 0, max: 4 })
const command = fc.oneof(
  fc.record({ kind: fc.constant('put'), id, amount }),
  fc.record({ kind: fc.constant('create'), id, amount }),
  fc.record({ kind: fc.constant('take'), id, amount }),
  fc.record({ kind: fc.constant('give'), id, amount }),
  fc.record({ kind: fc.constant('due'), id, amount }),
  fc.record({ kind: fc.constant('remove'), id, amount }),
  fc.record({ kind: fc.constantFrom('get', 'query', 'scan', 'index', 'pages'), id, amount }),
)
type Task = { kind: string; id: string; amount: number }

/** In the manner of the product's adapters. */
function toCommand(w: string, { kind, id: d, amount: n }: Task) {
  const Key = marshall({ w, d })
  const Item = marshall({ w, d, left: n, marks: {} })
  const values = (more: object = {}) => marshall({ ':n': n, ...more })
  const ofWorkspace = {
    KeyConditionExpression: 'w = :w',
    ExpressionAttributeValues: marshall({ ':w': w }),
  }
  switch (kind) {
    case 'put':
      return new PutItemCommand({ TableName, Item })
    case 'create':
      return new PutItemCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(d)' })
    case 'take':
      return new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: 'SET #left = #left - :n, marks.#mark = :mark ADD version :one',
        ConditionExpression: '#left >= :n AND attribute_not_exists(marks.#mark) AND size(marks) < :most',
        ExpressionAttributeNames: { '#left': 'left', '#mark': `m${n}` },
        ExpressionAttributeValues: values({ ':mark': { size: n }, ':one': 1, ':most': 2 }),
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
    case 'give':
      return new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: 'SET #left = #left + marks.#mark.size REMOVE marks.#mark',
        ConditionExpression: 'attribute_exists(marks.#mark)',
        ExpressionAttributeNames: { '#left': 'left', '#mark': `m${n}` },
        ReturnValues: 'UPDATED_NEW',
      })
    case 'due':
      return new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: n === 0 ? 'REMOVE due' : 'SET due = if_not_exists(due, :n)',
        ...(n > 0 && { ExpressionAttributeValues: values() }),
      })
    case 'remove':
      return new DeleteItemCommand({ TableName, Key, ReturnValues: 'ALL_OLD' })
    case 'get':
      return new GetItemCommand({ TableName, Key, ConsistentRead: true })
    case 'query':
      return new QueryCommand({
        TableName,
        ConsistentRead: true,
        ...ofWorkspace,
        FilterExpression: 'size(marks) >= :n',
        ExpressionAttributeValues: marshall({ ':w': w, ':n': n }),
      })
    case 'scan':
      return new ScanCommand({ TableName, ConsistentRead: true, FilterExpression: 'w = :w', ...expressionOf(w) })
    case 'index':
      return new QueryCommand({ TableName, IndexName: 'due', ...ofWorkspace, ScanIndexForward: n % 2 === 0 })
    default:
      return new QueryCommand({ TableName, ConsistentRead: true, ...ofWorkspace, Limit: n + 1 })
  }
}
const expressionOf = (w: string) => ({ ExpressionAttributeValues: marshall({ ':w': w }) })

const common = { region: 'us-east-1', credentials: CREDENTIALS, maxAttempts: 1 }
let stops: (() => Promise<void>)[]
let plain: DynamoDBClient
let limited: DynamoDBClient

beforeAll(async () => {
  const servers = [
    await startDynamoDb({ directory: undefined }),
    await startLimitedDynamoDb({ now: Date.now, staleMs: 0 }),
  ]
  const clients = servers.map(({ endpoint }) => new DynamoDBClient({ ...common, endpoint }))
  for (const client of clients) await client.send(new CreateTableCommand(TABLE))
  ;[plain, limited] = clients as [DynamoDBClient, DynamoDBClient]
  stops = [...clients.map((client) => async () => client.destroy()), ...servers.map((server) => () => server.stop())]
})
afterAll(async () => {
  for (const stop of stops) await stop()
})

describe('the embedded DynamoDB with limits', () => {
  /** All of an answer or a failure but what belongs to the connection. */
  const outcomeOf = async (client: DynamoDBClient, w: string, task: Task) => {
    try {
      const { $metadata: _, ...answer } = await client.send(toCommand(w, task) as GetItemCommand)
      return answer
    } catch (error) {
      const { name, message, Item } = error as Error & { Item?: object }
      return { name, message, Item }
    }
  }

  it('answers as the one without, as long as nothing is throttled', async () => {
    let workspaces = 0
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 30 }), async (tasks) => {
        const w = `w${workspaces++}`
        for (const task of tasks) expect(await outcomeOf(limited, w, task)).toEqual(await outcomeOf(plain, w, task))
      }),
      { numRuns: 60 },
    )
  })

  it('throttles so that the SDK knows it', async () => {
    const Item = marshall({ w: 'hot', d: 'a', text: 'x'.repeat(300_000) })
    const writes = Array.from({ length: 8 }, () => limited.send(new PutItemCommand({ TableName, Item })))
    const failures = (await Promise.allSettled(writes)).flatMap((write) =>
      write.status === 'rejected' ? [write.reason] : [],
    )
    expect(failures.length).toBeGreaterThan(0)
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(ThrottlingException)
      expect(isThrottlingError(failure)).toBe(true)
      expect(failure.throttlingReasons).toMatchObject([{ reason: 'TableWriteKeyRangeThroughputExceeded' }])
    }
  })
})
