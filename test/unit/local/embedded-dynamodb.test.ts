import { join } from 'node:path'
import { DynamoDB, waitUntilTableExists } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import db from 'dynalite/db/index.js'
import { expect, it, vi } from 'vitest'
import { startDynamoDb } from '../../../infra/local/stores/dynamodb.ts'
import { CREDENTIALS } from '../../support/stores/answering-stores.ts'
import { useDirectory } from '../../support/use-directory.ts'

const directory = useDirectory('dynamodb')
const [TableName, IndexName] = ['items', 'by_owner']
const hash = (AttributeName: string) => [{ AttributeName, KeyType: 'HASH' as const }]
const GlobalSecondaryIndexes = [
  { IndexName, KeySchema: hash('owner'), Projection: { ProjectionType: 'KEYS_ONLY' as const } },
]
const AttributeDefinitions = ['id', 'owner'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const }))
const TABLE = { TableName, AttributeDefinitions, KeySchema: hash('id'), GlobalSecondaryIndexes }

type Server = Awaited<ReturnType<typeof startDynamoDb>>
const clientOf = ({ endpoint }: Server) => new DynamoDB({ region: 'us-east-1', endpoint, credentials: CREDENTIALS })

async function createTable(server: Server): Promise<void> {
  await clientOf(server).createTable({ ...TABLE, BillingMode: 'PAY_PER_REQUEST' })
  const waiting = { client: clientOf(server), maxWaitTime: 60, minDelay: 0.01, maxDelay: 0.1 }
  await waitUntilTableExists(waiting, { TableName })
}

it('the embedded DynamoDB finds by an index just the items that there are, after it was killed between two writes', async () => {
  let server = await startDynamoDb({ directory: directory() })
  const client = () => clientOf(server)
  const put = (id: string, owner: string) => client().putItem({ TableName, Item: marshall({ id, owner }) })
  const found = async () => {
    const { Items = [] } = await client().scan({ TableName, IndexName })
    return Items.map(({ id, owner }) => `${id?.S} of ${owner?.S}`).sort()
  }
  await createTable(server)
  for (const id of ['kept', 'ghost', 'moved']) await put(id, 'a')

  // What a kill leaves: of two writes, only one.
  const torn = vi.spyOn(db, 'updateIndexes').mockImplementation((_store, _table, _old, _new, done) => done())
  await client().deleteItem({ TableName, Key: marshall({ id: 'ghost' }) })
  await put('hidden', 'a')
  await put('moved', 'b')
  torn.mockRestore()
  expect(await found()).toEqual(['ghost of a', 'kept of a', 'moved of a'])

  await server.stop()
  server = await startDynamoDb({ directory: directory() })
  expect(await found()).toEqual(['hidden of a', 'kept of a', 'moved of b'])
  await server.stop()
})

it('the embedded DynamoDB stops after the requests that it has begun, also those whose clients are gone', async () => {
  const server = await startDynamoDb({ directory: join(directory(), 'stopped') })
  await createTable(server)
  const ask = () =>
    clientOf(server).query({
      ...{ TableName, IndexName, KeyConditionExpression: '#owner = :owner' },
      ...{ ExpressionAttributeNames: { '#owner': 'owner' }, ExpressionAttributeValues: marshall({ ':owner': 'a' }) },
    })
  const asked = Array.from({ length: 50 }, ask)
  await Promise.race(asked)
  await server.stop()
  // What of them goes on in a closed database fails the run, as an error that nobody catches.
  await Promise.allSettled(asked)
})
