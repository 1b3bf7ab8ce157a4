import { unmarshall } from '@aws-sdk/util-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import { DELETED, DUE, READY } from '../../lib/aws/dynamodb/document-codec.ts'
import { HOLD, REFUND, WORKSPACE } from '../../lib/aws/dynamodb/workspace-codec.ts'
import { resolveDueItems } from '../../lib/ledger/resolve-due-items.ts'
import { LONGEST_COPY_MS, undo } from '../../lib/ledger/undo.ts'
import { idOf } from '../support/api/promotion-answers.ts'
import { createTestApi, withKey } from '../support/api/test-api.ts'
import { DOCUMENTS_TABLE, KEYS_TABLE, RATE_LIMITS_TABLE, WORKSPACES_TABLE } from '../support/dynamodb/memory-tables.ts'
import { WORKSPACE as WS_1 } from '../support/ports.ts'
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

  const parameters = { workspace_id: 'ws_1', name: 'ci' }
  const save = async (name: 'save_workspace' | 'save_key' | 'save_erasure', body: object) =>
    expect((await api.call(name, { parameters, body })).status).toBe(200)
  const times = { expire_after_seconds: 3600, expire_at_most_seconds: 7200 }
  await save('save_workspace', { ...times, requests_per_minute: 60, disabled: true })
  await save('save_workspace', { label: 'ACME', disabled: false })
  const key = { permissions: ['files:read'], user_id: 'u', expires_in_seconds: 60, requests_per_minute: 1 }
  for (let n = 0; n < 2; n++) await save('save_key', { ...key, grace_seconds: 60 })

  // A promotion; its document expires, is made anew, and is deleted.
  api.putFile('a.csv', Buffer.alloc(100), { contentType: 'text/csv', contentEncoding: 'gzip' })
  const promote = async () => {
    const answer = await api.promote({ path: 'a.csv', ...withKey() })
    expect(answer.status).toBe(200)
    return idOf(answer)
  }
  await promote()
  clock.nowMs += 3600_000
  await resolveDueItems('expiry', { timeoutEachMs: 60_000 }, { ...dependencies, dueWork: api.dueWork }, signal)
  const document_id = await promote()
  expect((await api.call('delete_document', { parameters: { document_id } })).status).toBe(200)

  // An attempt by key that is undone, although something may still be on its way.
  const one = newAttempt({ documentId: newAttempt().documentId })
  await api.documents.begin(pendingOf(one), undefined, signal)
  await api.ledger.hold(one, signal, 0)
  await undo(one, clock.nowMs + LONGEST_COPY_MS, dependencies, signal)

  const { version = 0, createdAt = new Date() } = stored.ledgerOf(WS_1) ?? {}
  const counts = { usedBytes: 1, documents: 1 }
  const drift = { counted: counts, expected: counts, at: { createdAtMs: createdAt.getTime(), version } }
  await workspaces.correct(WS_1, drift, signal)
  await save('save_erasure', { after_seconds: 60 })
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

/** The lines above the one that heads the attributes, and those below. */
function rowsOf(table: Table) {
  const [, ...rows] = tableRows(PAGE, `## ${table}`)
  const heading = rows.findIndex(([first]) => first === 'Attribute')
  return { states: rows.slice(0, heading), attributes: rows.slice(heading + 1) }
}

/** The attributes of items of Documents, by their states, as the page has them. */
function documentedStates(): Record<string, string[]> {
  const rows = rowsOf('Documents')
  const states = rows.states.flatMap(([first]) => namesIn(first))
  const byState: Record<string, string[]> = Object.fromEntries(states.map((state) => [state, []]))
  let meant = states
  for (const [attributes, , cell = ''] of rows.attributes) {
    const named = namesIn(cell).filter((name) => states.includes(name))
    if (cell.startsWith('all')) meant = states.filter((state) => !named.includes(state))
    else if (cell !== 'the same') meant = named
    for (const state of meant) byState[state]?.push(...namesIn(attributes))
  }
  return Object.fromEntries(Object.entries(byState).map(([state, names]) => [state, sorted(names)]))
}

describe(PAGE, () => {
  it.each(Object.keys(TABLES) as Table[])('explains each attribute of %s that is written, and no other', (table) => {
    const documented = rowsOf(table).attributes.flatMap(([first]) => namesIn(first))
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
    const ofWorkspaces = rowsOf('Workspaces').attributes.flatMap(([first]) => namesIn(first))
    expect(sorted(ofWorkspaces)).toEqual(sorted([...Object.keys(WORKSPACE), 'erasure_due', ...ofEntries]))
  })
})
