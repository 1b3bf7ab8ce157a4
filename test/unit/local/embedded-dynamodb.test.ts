import { setTimeout as sleep } from 'node:timers/promises'
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

it('the embedded DynamoDB stops after the requests that it has begun', async () => {
  const server = await startDynamoDb({ directory: undefined })
  await createTable(server)
  const begun = Promise.withResolvers<() => void>()
  const held = vi
    .spyOn(db, 'updateIndexes')
    .mockImplementation((_store, _table, _old, _new, done) => begun.resolve(done))
  const put = clientOf(server).putItem({ TableName, Item: marshall({ id: 'slow', owner: 'a' }) })
  const outcome = put.catch((error) => error)
  const goOn = await begun.promise
  held.mockRestore()
  const stopped = server.stop()
  await sleep(50)
  goOn()
  // Cut off, it would go on in a closed database, and dynalite throws that where nobody can catch it.
  expect(await outcome).toMatchObject({ $metadata: { httpStatusCode: 200 } })
  await stopped
})
