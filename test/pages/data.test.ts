import { unmarshall } from '@aws-sdk/util-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import { keyIdOf } from '../../lib/auth/api-token.ts'
import { DELETED, DUE, READY } from '../../lib/aws/dynamodb/document-codec.ts'
import { HOLD, REFUND, WORKSPACE } from '../../lib/aws/dynamodb/workspace-codec.ts'
import { openStores } from '../../lib/aws/stores.ts'
import { resolveDueItems } from '../../lib/ledger/resolve-due-items.ts'
import { LONGEST_COPY_MS, undo } from '../../lib/ledger/undo.ts'
import { createTestApi } from '../support/api/test-api.ts'
import { storedObject } from '../support/aws/memory-s3.ts'
import {
  CONFIG,
  DOCUMENTS_TABLE,
  KEYS_TABLE,
  RATE_LIMITS_TABLE,
  WORKSPACES_TABLE,
} from '../support/dynamodb/memory-tables.ts'
import { newAttempt, pendingOf } from '../support/stores/ledger-values.ts'
import { read, tableRows } from './pages.ts'

const PAGE = 'docs/data.md'
const TABLES = {
  Keys: { TableName: KEYS_TABLE, keys: ['owner_hash', 'key_id'] },
  RateLimits: { TableName: RATE_LIMITS_TABLE, keys: ['key_id'] },
  Workspaces: { TableName: WORKSPACES_TABLE, keys: ['workspace_id'] },
  Documents: { TableName: DOCUMENTS_TABLE, keys: ['workspace_id', 'document_id'] },
}
type Table = keyof typeof TABLES
type Item = Record<string, unknown>

const { signal } = new AbortController()
/** All that was ever in each table. */
const items: Record<Table, Item[]> = { Keys: [], RateLimits: [], Workspaces: [], Documents: [] }

/** Does all that writes, on tables in memory, and keeps what is there after each write. */
beforeAll(async () => {
  const api = createTestApi()
  const { clock, dependencies, stored, workspaces } = api
  const { tables } = stored
  const { execute } = tables
  tables.execute = async (...args) => {
    const result = await execute(...args)
    for (const [table, { TableName }] of Object.entries(TABLES)) {
      items[table as Table].push(...stored.attributes(TableName).map((item) => unmarshall(item)))
    }
    return result
  }

  const keyId = keyIdOf('ws_1', 'ci')
  const key = { keyId, name: 'ci', workspaceId: 'ws_1', userId: 'u', kind: 'standard', permissions: ['a'] }
  const state = {
    tokenHash: 'h',
    isEnabled: true,
    expiresAtMs: 1,
    formerTokens: { g: 1 },
    requestsPerMinute: 1,
    createdAt: '2026',
  }
  await dependencies.administration.apiKeys.add({ ...key, ...state } as never, signal)
  // A promotion; its document expires, is made anew, and is deleted.
  const workspaceId = key.workspaceId as never
  const { ledger } = await workspaces.create(workspaceId, { quotaBytes: 1000 }, signal)
  const disabled = {
    expireAfterSeconds: 3600,
    expireAtMostSeconds: 7200,
    requestsPerMinute: 60,
    isDisabled: true,
  } as const
  for (const to of [disabled, { isDisabled: undefined, label: 'ACME' }]) {
    const shown = stored.ledgerOf(workspaceId) ?? ledger
    const changed = await workspaces.change(workspaceId, { shown, to }, signal)
    await dependencies.rateLimiter.setLimits(workspaceId, changed as typeof ledger, signal)
  }
  const bytes = { bytes: Buffer.alloc(100), contentType: 'text/csv', contentEncoding: 'gzip' }
  api.objects.sandbox.set('sandboxes/ws_1/sess_1/a.csv', storedObject(bytes))
  const promote = async () => {
    const { status, body } = await api.promote({ path: 'a.csv', headers: { 'Idempotency-Key': 'a' } })
    expect(status).toBe(200)
    return (body as { id: string }).id
  }
  await promote()
  clock.nowMs += 3600_000
  await resolveDueItems('expiry', { timeoutEachMs: 60_000 }, { ...dependencies, dueWork: api.dueWork }, signal)
  const document_id = await promote()
  expect((await api.call('delete_document', { parameters: { document_id } })).status).toBe(200)

  // An attempt by key that is undone, although something may still be on its way.
  const one = newAttempt({ workspaceId, documentId: newAttempt().documentId })
  await api.documents.begin(pendingOf(one), undefined, signal)
  await api.ledger.hold(one, signal, 0)
  await undo(one, clock.nowMs + LONGEST_COPY_MS, dependencies, signal)

  const { version = 0, createdAt = new Date() } = stored.ledgerOf(workspaceId) ?? {}
  const counts = { usedBytes: 1, documents: 1 }
  const drift = { counted: counts, expected: counts, at: { createdAtMs: createdAt.getTime(), version } }
  await workspaces.correct(workspaceId, drift, signal)
  const asked = { state: 'scheduled', requestedAtMs: 1, beginsAtMs: 1, dueAtMs: 1 } as const
  await openStores({ config: CONFIG, dynamoDb: stored.client, s3: {} as never, now: () => 1 }).erasures.change(
    workspaceId,
    { shown: undefined, to: asked },
    signal,
  )
})

/** Attributes of maps too, as `holds.n`. */
const attributesOf = (all: Item[]): string[] =>
  all.flatMap((item) => [
    ...Object.keys(item),
    ...['holds', 'refunds'].flatMap((map) =>
      Object.values((item[map] ?? {}) as Record<string, object>).flatMap((entry) =>
        Object.keys(entry).map((name) => `${map}.${name}`),
      ),
    ),
  ])
const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted()
const namesIn = (cell = '') => [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name)

const rowsOf = (table: Table) => tableRows(PAGE, `## ${table}`)
/** Below the line that heads the attributes. */
const attributeRowsOf = (table: Table) => {
  const rows = rowsOf(table)
  return rows.slice(rows.findIndex(([first]) => first === 'Attribute') + 1)
}

/** The attributes of items of Documents, by their states, as the page has them. */
function documentedStates(): Record<string, string[]> {
  const rows = rowsOf('Documents')
  const states = rows
    .slice(
      1,
      rows.findIndex(([first]) => first === 'Attribute'),
    )
    .flatMap(([first]) => namesIn(first))
  const byState: Record<string, string[]> = Object.fromEntries(states.map((state) => [state, []]))
  let meant = states
  for (const [attributes, , cell = ''] of attributeRowsOf('Documents')) {
    const named = namesIn(cell).filter((name) => states.includes(name))
    if (cell.startsWith('all')) meant = states.filter((state) => !named.includes(state))
    else if (cell !== 'the same') meant = named
    for (const state of meant) byState[state]?.push(...namesIn(attributes))
  }
  return Object.fromEntries(Object.entries(byState).map(([state, names]) => [state, sorted(names)]))
}

describe(PAGE, () => {
  it.each(Object.keys(TABLES) as Table[])('explains each attribute of %s that is written, and no other', (table) => {
    const documented = attributeRowsOf(table).flatMap(([first]) => namesIn(first))
    expect(sorted(documented)).toEqual(sorted(attributesOf(items[table])))
  })

  it.each(Object.keys(TABLES) as Table[])('shows an item of %s with attributes that it has', (table) => {
    const section = read(PAGE).split(`\n## ${table}\n`)[1] ?? ''
    const example = JSON.parse(section.match(/```json\n([\s\S]*?)```/)?.[1] ?? '')
    const written = attributesOf(items[table])
    expect(attributesOf([example]).filter((name) => !written.includes(name))).toEqual([])
    for (const key of TABLES[table].keys) expect(example).toHaveProperty(key)
  })

  it('tells the states of items of Documents, and what those in each have', () => {
    const written: Record<string, string[]> = {}
    for (const item of items.Documents) {
      const state = String(item.item_state)
      written[state] = sorted([...(written[state] ?? []), ...Object.keys(item)])
    }
    expect(written).toEqual(documentedStates())
  })

  it('has all that can be read, also what no item of this test has', () => {
    const byState = documentedStates()
    const codecs = Object.entries({ pending: DUE, ready: READY, deleting: DELETED, stray: DUE })
    for (const [state, codec] of codecs) expect(byState[state]).toEqual(expect.arrayContaining(Object.keys(codec)))
    const ofEntries = Object.entries({ holds: HOLD, refunds: REFUND }).flatMap(([map, codec]) =>
      Object.keys(codec).map((name) => `${map}.${name}`),
    )
    const ofWorkspaces = attributeRowsOf('Workspaces').flatMap(([first]) => namesIn(first))
    expect(sorted(ofWorkspaces)).toEqual(sorted([...Object.keys(WORKSPACE), 'erasure_due', ...ofEntries]))
  })
})
