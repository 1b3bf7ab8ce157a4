import {
  CreateTableCommand,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb'
import db from 'dynalite/db/index.js'
import { expect, it, vi } from 'vitest'
import { startDynamoDb } from '../../../infra/local/stores/dynamodb.ts'
import { CREDENTIALS } from '../../support/stores/answering-stores.ts'
import { useDirectory } from '../../support/use-directory.ts'

const directory = useDirectory('dynamodb')
const TableName = 'items'
const TABLE = {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['id', 'owner'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'by_owner',
      KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
} as const

it('the embedded DynamoDB finds by an index just the items that there are, after it was killed between two writes', async () => {
  let server = await startDynamoDb({ directory: directory() })
  const client = () => new DynamoDBClient({ region: 'us-east-1', endpoint: server.endpoint, credentials: CREDENTIALS })
  const put = (id: string, owner: string) =>
    client().send(new PutItemCommand({ TableName, Item: { id: { S: id }, owner: { S: owner } } }))
  const found = async (owner: string) => {
    const wanted = { KeyConditionExpression: '#o = :o', ExpressionAttributeValues: { ':o': { S: owner } } }
    const names = { IndexName: 'by_owner', ExpressionAttributeNames: { '#o': 'owner' } }
    const { Items = [] } = await client().send(new QueryCommand({ TableName, ...names, ...wanted }))
    return Items.map(({ id }) => id?.S).sort()
  }
  await client().send(new CreateTableCommand(TABLE as never))
  for (const id of ['kept', 'ghost', 'moved']) await put(id, 'a')

  // What a kill leaves: of two writes, the one to the index or the one to the item.
  const torn = vi.spyOn(db, 'updateIndexes').mockImplementation((_store, _table, _old, _new, done) => done())
  await client().send(new DeleteItemCommand({ TableName, Key: { id: { S: 'ghost' } } }))
  await put('hidden', 'a')
  await put('moved', 'b')
  torn.mockRestore()
  expect([await found('a'), await found('b')], 'it is torn').toEqual([['ghost', 'kept', 'moved'], []])

  await server.stop()
  server = await startDynamoDb({ directory: directory() })
  expect([await found('a'), await found('b')]).toEqual([['hidden', 'kept'], ['moved']])
  expect((await client().send(new ScanCommand({ TableName }))).Count).toBe(3)
  await put('kept', 'b')
  expect([await found('a'), await found('b')]).toEqual([['hidden'], ['kept', 'moved']])
  await server.stop()
})
