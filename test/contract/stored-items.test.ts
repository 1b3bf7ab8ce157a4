import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDocumentListing } from '../../lib/aws/document-listing.ts'
import { createDocumentRecords } from '../../lib/aws/document-records.ts'
import { createLedgerMaintenance } from '../../lib/aws/ledger-maintenance.ts'
import { createQuotaLedger } from '../../lib/aws/quota-ledger.ts'
import { createReservations } from '../../lib/aws/reservations.ts'
import type { Attributes } from '../../lib/aws/stored-item.ts'
import { UnreadableItemError } from '../../lib/errors.ts'
import { type DocumentId, newAttemptId, type WorkspaceId } from '../../lib/ids.ts'
import type { StoredDocument } from '../../lib/maintenance/ports.ts'
import type { Reservation } from '../../lib/promotion/ports.ts'
import { itemSizeBytes } from '../support/dynamodb/capacity.ts'
import { newDocument, newRelease, newReservation, newWorkspaceId } from '../support/ledger-values.ts'
import { type StandIns, startStandIns } from '../support/stand-ins.ts'
import { LEDGER_NOW_MS, LEDGER_SETTINGS } from './quota-ledger.contract.ts'

const { signal } = new AbortController()
const DAY_SECONDS = 86_400
/** 2^53 + 1: JavaScript cannot tell it from 2^53. */
const TOO_LARGE = { N: '9007199254740993' }

/** The adapters on items as other versions, and other hands, may have left them. */
let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns()
})
afterAll(() => standIns.stop())

let workspaceId: WorkspaceId
beforeEach(() => {
  workspaceId = newWorkspaceId()
})

const openLedger = () => {
  const settings = { ...LEDGER_SETTINGS, client: standIns.dynamoDb, tableName: standIns.config.workspacesTable }
  return { ...createQuotaLedger(settings), ...createLedgerMaintenance(settings) }
}
const openReservations = () =>
  createReservations({ client: standIns.dynamoDb, tableName: standIns.config.reservationsTable })
const openDocuments = () =>
  createDocumentRecords({
    client: standIns.dynamoDb,
    tableName: standIns.config.documentsTable,
    now: () => LEDGER_NOW_MS,
  })
const put = (TableName: string, Item: Attributes) => standIns.dynamoDb.send(new PutItemCommand({ TableName, Item }))
const get = async (TableName: string, key: object): Promise<Attributes> => {
  const { Item } = await standIns.dynamoDb.send(new GetItemCommand({ TableName, Key: marshall(key) }))
  if (!Item) throw new Error('no such item')
  return Item
}
const reservation = (change: Partial<Reservation> = {}) => newReservation({ workspaceId, ...change })
const keyOf = ({ documentId }: { documentId: string }) => ({ workspace_id: workspaceId, document_id: documentId })
const readRecordItem = (of: { documentId: string }) => get(standIns.config.documentsTable, keyOf(of))

describe('a workspace item without takings and releases, of the version before', () => {
  const putOld = () =>
    put(
      standIns.config.workspacesTable,
      marshall({ workspace_id: workspaceId, quota_bytes: 1000, remaining_bytes: 600, reservations: {}, version: 7 }),
    )

  it('is read as one without any', async () => {
    await putOld()
    expect(await openLedger().read(workspaceId, signal)).toMatchObject({ usedBytes: 400, takings: [], releases: [] })
  })

  it('takes bytes, and marks releases, as any other', async () => {
    const ledger = openLedger()
    for (const opens of ['take', 'mark'] as const) {
      await putOld()
      const one = reservation()
      const opened = opens === 'take' ? ledger.take(one, signal) : ledger.mark(newRelease(one, 'deletion'), signal)
      const taken = { outcome: 'taken', usage: { quotaBytes: 1000, usedBytes: 500 }, countedFrom: 8 }
      expect(await opened).toEqual(opens === 'take' ? taken : 'marked')
      const read = await ledger.read(workspaceId, signal)
      expect([read?.takings.length, read?.releases.length]).toEqual(opens === 'take' ? [1, 0] : [0, 1])
    }
  })

  it('is refused for its quota as any other', async () => {
    await putOld()
    expect(await openLedger().take(reservation({ sizeBytes: 601 }), signal)).toMatchObject({
      outcome: 'quota_exceeded',
      usage: { quotaBytes: 1000, usedBytes: 400 },
    })
  })

  it('has nothing to close', async () => {
    await putOld()
    const ledger = openLedger()
    const one = reservation()
    for (const marker of [one, newRelease(one, 'undo')]) {
      await ledger.unmark(marker, signal)
      expect(await ledger.release(marker, signal)).toBeUndefined()
    }
    expect(await ledger.read(workspaceId, signal)).toMatchObject({ usedBytes: 400, version: 7 })
  })
})

describe('a tombstone', () => {
  it('fixed: that of an unfinished deletion never expires, as it proves whose the bytes are', async () => {
    const records = openDocuments()
    const one = newDocument(reservation())
    await records.record(one, signal)
    const deletion = newRelease(one, 'deletion')
    await records.retire(deletion, signal)
    await records.fence(reservation({ documentId: one.documentId }), signal)
    expect(await readRecordItem(one)).not.toHaveProperty('expires_at')
    await records.finish(deletion, signal)
    expect(await readRecordItem(one)).toMatchObject({ expires_at: { N: String(LEDGER_NOW_MS / 1000 + DAY_SECONDS) } })
  })

  it('of a fenced attempt expires in a day; a document recorded there does not inherit that', async () => {
    const records = openDocuments()
    const early = reservation()
    await records.fence(early, signal)
    expect(await readRecordItem(early)).toMatchObject({ expires_at: { N: String(LEDGER_NOW_MS / 1000 + DAY_SECONDS) } })
    const one = newDocument(reservation({ documentId: early.documentId }))
    expect(await records.record(one, signal)).toBe('recorded')
    expect(Object.keys(await readRecordItem(one))).not.toContain('expires_at')
  })
})

describe('a live document', () => {
  it('fixed: does not grow with the attempts that were fenced beside it, nor with those made before', async () => {
    const records = openDocuments()
    const { documentId } = reservation()
    const sizeOf = async () => JSON.stringify(await readRecordItem({ documentId })).length
    const sizes: number[] = []
    for (let generation = 0; generation < 5; generation++) {
      const one = newDocument(reservation({ documentId }))
      expect(await records.record(one, signal)).toBe('recorded')
      for (let i = 0; i < 10; i++) await records.fence(reservation({ documentId }), signal)
      sizes.push(await sizeOf())
      const deletion = newRelease(one, 'deletion')
      await records.retire(deletion, signal)
      await records.finish(deletion, signal)
    }
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(10)
  })
})

describe('a document id under which documents were deleted again and again', () => {
  const HOUR_MS = 3_600_000
  let nowMs = LEDGER_NOW_MS
  const records = () =>
    createDocumentRecords({
      client: standIns.dynamoDb,
      tableName: standIns.config.documentsTable,
      now: () => nowMs,
    })
  const makeAndDelete = async (documentId: DocumentId, count: number, pauseMs: number) => {
    for (let i = 1; i <= count; i++) {
      const one = { ...newDocument(reservation({ documentId })), countedFrom: 10 * i }
      expect(await records().record(one, signal)).toBe('recorded')
      const deletion = newRelease(one, 'deletion')
      const retired = await records().retire(deletion, signal)
      if (!retired) throw new Error('not retired')
      await records().finish(deletion, signal, { retired, countedThrough: 10 * i + 5 })
      nowMs += pauseMs
    }
    for await (const row of records().listRows(workspaceId, signal))
      if (row.documentId === documentId) return row.counted
    throw new Error('no row')
  }

  it('remembers the last ten, says that there may have been more, and stays small', async () => {
    const { documentId } = reservation()
    const counted = await makeAndDelete(documentId, 12, 1000)
    const through = counted.map((each) => (each.state === 'former' ? each.countedThrough : undefined))
    expect(through).toEqual([35, 45, 55, 65, 75, 85, 95, 105, 115, 125, undefined])
    expect(counted.at(-1)).toEqual({ state: 'forgotten', countedThrough: 35 })
    expect(itemSizeBytes(await readRecordItem({ documentId }))).toBeLessThan(2048)
  })

  it('remembers those of the last day', async () => {
    const counted = await makeAndDelete(reservation().documentId, 6, 9 * HOUR_MS)
    expect(counted).toMatchObject([{ countedThrough: 45 }, { countedThrough: 55 }, { countedThrough: 65 }])
  })
})

describe('fixed: an unreadable item', () => {
  const COUNTER = {
    workspace_id: 'ws',
    quota_bytes: 1000,
    remaining_bytes: 1000,
    version: 0,
    takings: {},
    releases: {},
  }
  const putCounter = (change: Attributes) =>
    put(standIns.config.workspacesTable, { ...marshall({ ...COUNTER, workspace_id: workspaceId }), ...change })

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
    const ledger = openLedger()
    const reading = ledger.read(workspaceId, signal)
    await expect(reading).rejects.toBeInstanceOf(UnreadableItemError)
    await expect(reading).rejects.toThrow(workspaceId)
    const listed = []
    for await (const id of ledger.list(signal)) listed.push(id)
    expect(listed).toContain(workspaceId)
    // For the other tests of this table, which read all.
    await putCounter({})
  })

  it('of the ledger is not in the way of closing, which reads nothing', async () => {
    await putCounter({ check_due_at: TOO_LARGE })
    const ledger = openLedger()
    await ledger.unmark({ workspaceId, attemptId: newAttemptId() }, signal)
    await putCounter({})
  })

  const damage: [string, Attributes][] = [
    ['a number beyond 2^53', { size_bytes: TOO_LARGE }],
    ['an attribute of another type', { attempt_id: { N: '7' } }],
    ['an attribute missing', { object_key: { NULL: true } }],
  ]

  it.each(damage)('of a reservation, with %s, is passed by and told; alone, it is refused', async (_, change) => {
    const reservations = openReservations()
    const [good, bad] = [reservation(), reservation()]
    for (const each of [good, bad]) await reservations.open(each, signal)
    const { reservationsTable } = standIns.config
    const key = { workspace_id: workspaceId, reservation_id: bad.documentId }
    await put(reservationsTable, { ...(await get(reservationsTable, key)), ...change })
    const errors: Error[] = []
    const listed: string[] = []
    for await (const each of reservations.list(workspaceId, signal, (error) => errors.push(error))) {
      listed.push(each.attemptId)
    }
    expect(listed).toEqual([good.attemptId])
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining(bad.documentId)])
    const listAll = async () => {
      for await (const _each of reservations.list(workspaceId, signal));
    }
    for (const refused of [listAll(), reservations.find(bad, signal), reservations.open(bad, signal)]) {
      await expect(refused).rejects.toBeInstanceOf(UnreadableItemError)
    }
  })

  it.each(damage)('of a document, with %s, is passed by and told; alone, it is refused', async (_, change) => {
    const records = openDocuments()
    const [good, bad] = [newDocument(reservation()), newDocument(reservation())]
    for (const each of [good, bad]) await records.record(each, signal)
    await put(standIns.config.documentsTable, { ...(await readRecordItem(bad)), ...change })
    const errors: Error[] = []
    const listed: string[] = []
    for await (const each of records.list(workspaceId, signal, (error) => errors.push(error))) {
      listed.push(each.attemptId)
    }
    expect(listed).toEqual([good.attemptId])
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining(bad.documentId)])
    const listAll = async () => {
      for await (const _each of records.list(workspaceId, signal));
    }
    for (const refused of [listAll(), records.find(workspaceId, bad.documentId, signal)]) {
      await expect(refused).rejects.toBeInstanceOf(UnreadableItemError)
    }
  })
})

describe('a document of before there were lists', () => {
  const openListing = () =>
    createDocumentListing({ client: standIns.dynamoDb, tableName: standIns.config.documentsTable })
  const listedIds = async () => {
    const request = { workspaceId, order: 'asc', after: undefined, limit: 10 } as const
    return (await openListing().page(request, signal)).items.map(({ documentId }) => documentId)
  }
  const storedIn = async () => {
    const stored: StoredDocument[] = []
    for await (const each of openDocuments().list(workspaceId, signal)) stored.push(each)
    return stored
  }

  it.each([
    ['no place in them', undefined],
    ['another one than its moment says', { S: '2001-01-01T00:00:00.000Z file_1' }],
  ])('has %s, is told apart by that, and gets its own', async (_, place) => {
    const documents = openDocuments()
    const [newer, older] = [newDocument(reservation()), newDocument(reservation())]
    await documents.record(newer, signal)
    await documents.record(older, signal)
    const { listed_at, ...item } = await readRecordItem(older)
    await put(standIns.config.documentsTable, { ...item, ...(place && { listed_at: place }) })
    expect((await storedIn()).filter(({ isUnlisted }) => isUnlisted)).toEqual([{ ...older, isUnlisted: true }])

    await documents.enlist(older, signal)
    expect(await readRecordItem(older)).toEqual({ ...item, listed_at })
    expect((await storedIn()).filter(({ isUnlisted }) => isUnlisted)).toEqual([])
    expect((await listedIds()).toSorted()).toEqual([newer.documentId, older.documentId].toSorted())
  })

  it('gets none when it was deleted meanwhile', async () => {
    const documents = openDocuments()
    const document = newDocument(reservation())
    await documents.record(document, signal)
    await documents.retire(newRelease(document, 'deletion'), signal)
    const tombstone = await readRecordItem(document)
    await documents.enlist(document, signal)
    expect(await readRecordItem(document)).toEqual(tombstone)
    expect(await listedIds()).toEqual([])
  })
})
