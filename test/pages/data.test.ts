import { CreateTableCommand, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKeyAdministration } from '../../lib/aws/dynamodb/api-key-administration.ts'
import { createRateLimiter } from '../../lib/aws/dynamodb/rate-limiter.ts'
import { documentIdOfAttempt, newAttemptId } from '../../lib/ids.ts'
import type { Attempt } from '../../lib/ledger/ports/reservations.ts'
import { inProcess } from '../support/aws/in-process.ts'
import { createMemoryDynamoDb } from '../support/aws/memory-dynamodb.ts'
import { newAttempt, newDocument, newRelease } from '../support/stores/ledger-values.ts'
import { openTableStores } from '../support/stores/table-stores.ts'
import { read, tableRows } from './pages.ts'

const PAGE = 'docs/data.md'
const TABLES = {
  Keys: ['token_hash'],
  RateLimits: ['key_id'],
  Workspaces: ['workspace_id'],
  Reservations: ['workspace_id', 'reservation_id'],
  Documents: ['workspace_id', 'document_id'],
}
type Table = keyof typeof TABLES
type Item = Record<string, unknown>

const { signal } = new AbortController()
const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' }
const items: Record<string, Item[]> = {}

/** Writes all that the adapters can write, on DynamoDB in memory, and keeps what is there after each step. */
beforeAll(async () => {
  const requestHandler = inProcess(createMemoryDynamoDb().store)
  const client = new DynamoDBClient({ region: 'us-east-1', credentials: CREDENTIALS, requestHandler } as never)
  for (const [TableName, keys] of Object.entries(TABLES)) {
    items[TableName] = []
    const KeySchema = keys.map(
      (AttributeName, index) => ({ AttributeName, KeyType: index ? 'RANGE' : 'HASH' }) as const,
    )
    const AttributeDefinitions = keys.map((AttributeName) => ({ AttributeName, AttributeType: 'S' }) as const)
    const table = { TableName, KeySchema, AttributeDefinitions, BillingMode: 'PAY_PER_REQUEST' } as const
    await client.send(new CreateTableCommand(table))
  }
  const keep = async () => {
    for (const TableName of Object.keys(TABLES)) {
      const { Items = [] } = await client.send(new ScanCommand({ TableName }))
      items[TableName]?.push(...Items.map((item) => unmarshall(item)))
    }
  }
  const config = { workspacesTable: 'Workspaces', reservationsTable: 'Reservations', documentsTable: 'Documents' }
  const { ledger, reservations, documents } = openTableStores({ dynamoDb: client, config: config as never })
  const counted = async (attempt: Attempt): Promise<Attempt> => {
    const taken = await ledger.take(attempt, signal)
    if (taken.outcome !== 'taken') throw new Error(taken.outcome)
    return { ...attempt, countedFrom: taken.countedFrom }
  }
  const release = async (attempt: Attempt, cause: 'undo' | 'deletion') => {
    const marked = await ledger.mark(newRelease(attempt, cause), signal)
    if (marked === 'crowded') throw new Error(marked)
    return marked
  }

  const keys = createApiKeyAdministration({ client, tableName: 'Keys' })
  const key = { keyId: 'key_1', workspaceId: 'ws_1', userId: 'u', kind: 'standard', permissions: ['a'] }
  await keys.add(
    {
      ...key,
      tokenHash: 'h',
      isEnabled: true,
      expiresAtMs: 1,
      createdAt: new Date(0).toISOString(),
      replacedBy: 'key_2',
    } as never,
    signal,
  )
  const policy = { requestsPerMinute: 30, burst: 5 }
  const rateLimiter = createRateLimiter({ client, tableName: 'RateLimits', policy, now: Date.now })
  await rateLimiter.take('key_1', signal)
  await rateLimiter.beginWait('key_1', 20_000, signal)

  // An attempt that is undone.
  const dead = newAttempt({ documentId: documentIdOfAttempt(newAttemptId()) })
  await reservations.claim(dead, signal)
  await keep()
  const undone = await counted(dead)
  await reservations.reserve(undone, true, signal)
  await ledger.unmark(undone, signal)
  await reservations.note('late_copy', undone, signal)
  await reservations.fence(newAttempt(), false, signal)
  await documents.fence(undone, signal)
  const undo = await release(undone, 'undo')
  await reservations.handOver(undo, signal)
  await keep()
  await ledger.giveBack(undo, signal)

  // A document that is made, fenced off from others and deleted.
  const made = await counted(newAttempt())
  await documents.record({ ...newDocument(made), expiresAt: new Date(1_900_000_000_000) }, signal)
  const to = { expireAfterSeconds: 3600, expireAtMostSeconds: 7200 }
  await ledger.setRetention(made.workspaceId, { shown: {}, to }, signal)
  await documents.fence(newAttempt({ documentId: made.documentId }), signal)
  await reservations.note('deletion', made, signal)
  const { version = 0 } = (await ledger.read(made.workspaceId, signal)) ?? {}
  await ledger.correct(
    made.workspaceId,
    { usedBytes: 1, expectedBytes: 1, at: { version, lastVersion: version } },
    signal,
  )
  const deletion = await release(made, 'deletion')
  await keep()
  await documents.delete(made, signal)
  await documents.handOver(deletion, signal)
  await documents.expireTombstone(deletion, signal)
  await keep()
  await documents.record(newDocument(newAttempt({ documentId: made.documentId })), signal, newDocument(made))
  await keep()
})

/** Attributes of maps too, as `takings.n`. */
const attributesOf = (all: Item[]): string[] =>
  all.flatMap((item) => [
    ...Object.keys(item),
    ...['takings', 'releases'].flatMap((map) =>
      Object.values((item[map] ?? {}) as Record<string, object>).flatMap((marker) =>
        Object.keys(marker).map((name) => `${map}.${name}`),
      ),
    ),
  ])
const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted()
const namesIn = (cell = '') => [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name)
const documented = (table: Table) =>
  tableRows(PAGE, `## ${table}`)
    .flatMap(([first]) => namesIn(first))
    .filter((name) => !(name in PURPOSES))

/** What a reservation has of these, by purpose. */
const PURPOSES: Record<string, string[]> = Object.fromEntries(
  tableRows(PAGE, '## Reservations')
    .filter((row) => row.length === 3 && row[0] !== 'Purpose')
    .map(([purpose, , attributes]) => [namesIn(purpose)[0] ?? '', namesIn(attributes)]),
)

describe(PAGE, () => {
  it.each(Object.keys(TABLES) as Table[])('explains each attribute of %s that is written, and no other', (table) => {
    expect(sorted(documented(table))).toEqual(sorted(attributesOf(items[table] ?? [])))
  })

  it.each(Object.keys(TABLES) as Table[])('shows an item of %s with attributes that it has', (table) => {
    const section = read(PAGE).split(`\n## ${table}\n`)[1] ?? ''
    const example = JSON.parse(section.match(/```json\n([\s\S]*?)```/)?.[1] ?? '')
    const unknown = attributesOf([example]).filter((name) => !attributesOf(items[table] ?? []).includes(name))
    expect(unknown).toEqual([])
    for (const key of TABLES[table]) expect(example).toHaveProperty(key)
  })

  it('tells the purposes of reservations, and which attributes not all of them have', () => {
    const optional = sorted(Object.values(PURPOSES).flat())
    const written = (items.Reservations ?? []).map((item) => [
      item.purpose as string,
      optional.filter((name) => name in item),
    ])
    const byPurpose: Record<string, string[]> = {}
    for (const [purpose, names] of written as [string, string[]][]) {
      byPurpose[purpose] = sorted([...(byPurpose[purpose] ?? []), ...names])
    }
    expect(byPurpose).toEqual(PURPOSES)
  })
})
