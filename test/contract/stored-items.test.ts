import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import type { Attributes } from '../../lib/aws/dynamodb/stored-item.ts'
import { newAttemptId } from '../../lib/ids.ts'
import { UnreadableItemError } from '../../lib/ledger/ports/unreadable-item.ts'
import { LEDGER_NOW_MS, newDocument } from '../support/stores/ledger-values.ts'
import { useStoredItems } from '../support/stores/use-stored-items.ts'

const { signal } = new AbortController()
/** 2^53 + 1: JavaScript cannot tell it from 2^53. */
const TOO_LARGE = { N: '9007199254740993' }

const items = useStoredItems()
const { reservation, put, get, readRecordItem } = items

it("a document's place in the list never changes: an index that follows late would show it twice, or not", async () => {
  const { documents, expiries } = items.open()
  const one = newDocument(reservation())
  await documents.record(one, signal)
  const places = [(await readRecordItem(one)).listed_at]
  let read = one
  for (const expiresAt of [new Date(LEDGER_NOW_MS + 1000), new Date(LEDGER_NOW_MS + 2000), undefined]) {
    expect(await expiries.setExpiry(read, expiresAt, signal)).toBe(true)
    places.push((await readRecordItem(one)).listed_at)
    read = { ...one, expiresAt }
  }
  expect(places).toEqual(Array(4).fill({ S: `${one.createdAt.toISOString()} ${one.documentId}` }))
})

describe('fixed: an unreadable item', () => {
  const COUNTER = { quota_bytes: 1000, remaining_bytes: 1000, version: 0, takings: {}, releases: {} }
  const putCounter = (change: Attributes) =>
    put(items.config.workspacesTable, { ...marshall({ ...COUNTER, workspace_id: items.workspaceId }), ...change })

  it.each<[string, Attributes]>([
    ['a number beyond 2^53', { remaining_bytes: TOO_LARGE }],
    ['a number as a string', { quota_bytes: { S: '1000' } }],
    ['no number', { version: { NULL: true } }],
    ['takings that are no map', { takings: { S: 'none' } }],
    ['takings of nothing', { takings: { NULL: true } }],
    ['a taking that is no map', { takings: { M: { a: { NULL: true } } } }],
    ['a taking without bytes', { takings: { M: { a: { M: { l: { N: '1' } } } } } }],
    ['a release whose bytes are beyond 2^53', { releases: { M: { a: { M: { n: TOO_LARGE, l: { N: '1' } } } } } }],
    ['a release without a lease', { releases: { M: { a: { M: { n: { N: '1' } } } } } }],
    ['a release of nobody', { releases: { M: { a: { M: { n: { N: '1' }, l: { N: '1' } } } } } }],
  ])('of the ledger, with %s, is named when it is read, and still listed', async (_, change) => {
    await putCounter(change)
    const ledger = items.open().ledger
    const reading = ledger.read(items.workspaceId, signal)
    await expect(reading).rejects.toBeInstanceOf(UnreadableItemError)
    await expect(reading).rejects.toThrow(items.workspaceId)
    expect(await Array.fromAsync(ledger.list(signal))).toContain(items.workspaceId)
    // So that the other tests, which read the whole table, can read this item.
    await putCounter({})
  })

  it('of the ledger is not in the way of closing, which reads nothing', async () => {
    await putCounter({ check_due_at: TOO_LARGE })
    const ledger = items.open().ledger
    await ledger.unmark({ workspaceId: items.workspaceId, attemptId: newAttemptId() }, signal)
    await putCounter({})
  })

  const damage: [string, Attributes][] = [
    ['a number beyond 2^53', { size_bytes: TOO_LARGE }],
    ['an attribute of another type', { attempt_id: { N: '7' } }],
    ['an attribute missing', { object_key: { NULL: true } }],
  ]

  type Listed = { attemptId: string }
  type List = (onUnreadable?: (error: Error) => void) => AsyncIterable<Listed>

  /** What is listed is the good one alone, and whoever does not ask to be told of the bad one is refused. */
  async function expectPassedBy(list: List, good: Listed, bad: { documentId: string }) {
    const errors: Error[] = []
    const listed = await Array.fromAsync(list((error) => errors.push(error)))
    expect(listed.map(({ attemptId }) => attemptId)).toEqual([good.attemptId])
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining(bad.documentId)])
    await expect(Array.fromAsync(list())).rejects.toBeInstanceOf(UnreadableItemError)
  }

  it.each(damage)('of a reservation, with %s, is passed by and told; alone, it is refused', async (_, change) => {
    const reservations = items.open().reservations
    const [good, bad] = [reservation(), reservation()]
    for (const each of [good, bad]) await reservations.reserve(each, false, signal)
    const { reservationsTable } = items.config
    const key = { workspace_id: items.workspaceId, reservation_id: bad.documentId }
    await put(reservationsTable, { ...(await get(reservationsTable, key)), ...change })
    await expectPassedBy((onUnreadable) => reservations.list(items.workspaceId, signal, onUnreadable), good, bad)
    for (const refused of [reservations.find(bad, signal), reservations.claim(bad, signal)]) {
      await expect(refused).rejects.toBeInstanceOf(UnreadableItemError)
    }
  })

  it.each(damage)('of a document, with %s, is passed by and told; alone, it is refused', async (_, change) => {
    const records = items.open().documents
    const [good, bad] = [newDocument(reservation()), newDocument(reservation())]
    for (const each of [good, bad]) await records.record(each, signal)
    await put(items.config.documentsTable, { ...(await readRecordItem(bad)), ...change })
    await expectPassedBy((onUnreadable) => records.list(items.workspaceId, signal, onUnreadable), good, bad)
    const refused = records.find(items.workspaceId, bad.documentId, signal)
    await expect(refused).rejects.toBeInstanceOf(UnreadableItemError)
  })
})
