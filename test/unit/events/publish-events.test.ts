import { describe, expect, it } from 'vitest'
import { eventOf, type StreamRecord } from '../../../lib/aws/dynamodb/stream-record.ts'
import { createEventBus } from '../../../lib/aws/events/event-bus.ts'
import { createKeptRecords } from '../../../lib/aws/events/kept-records.ts'
import { publishEvents } from '../../../lib/events/publish-events.ts'
import type { FilePath } from '../../../lib/ids.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { createRecordingLog, type LogLine } from '../../support/ports.ts'
import { clientOf, refused } from '../../support/stores/client-of.ts'
import { newAttempt, newDocument, signal } from '../../support/stores/ledger-values.ts'
import { deletingItem, pendingItem, promotion, readyItem, streamRecord } from '../../support/stream-records.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()

interface Entry {
  Detail: string
  DetailType: string
}
/** The function on a bus that judges each entry, and a queue that keeps what it is sent unless it is down. */
function setUp({ judge = () => undefined, answer, isQueueDown = false }: Partial<Setting> = {}) {
  const put: Entry[] = []
  const messages: string[] = []
  const logged: LogLine[] = []
  const { client, sent } = clientOf({
    PutEventsCommand: ({ Entries }: { Entries: Entry[] }) => {
      const failure = answer?.(Entries)
      if (failure) return failure
      const codes = Entries.map(judge)
      put.push(...Entries.filter((_, index) => codes[index] === undefined))
      return { Entries: codes.map((ErrorCode) => (ErrorCode ? { ErrorCode } : { EventId: 'e' })) }
    },
    SendMessageCommand: ({ MessageBody }) => (isQueueDown ? refused(503) : { count: messages.push(MessageBody) }),
  })
  const bus = createEventBus({ client, eventBus: 'files' })
  const deps = { eventOf, bus, kept: createKeptRecords({ client, eventsQueueUrl: 'q' }) }
  return {
    publish: async (...records: StreamRecord[]) =>
      records.indexOf((await publishEvents(records, { ...deps, log: createRecordingLog(logged) }, signal)) as never),
    calls: () => sent.flatMap(({ name, input }) => (name === 'PutEventsCommand' ? [input.Entries as Entry[]] : [])),
    names: () => put.map(({ Detail }) => JSON.parse(Detail).filename),
    put,
    messages,
    kept: (): { reason: string; Records: StreamRecord[] }[] => messages.map((message) => JSON.parse(message)),
    logged,
  }
}
interface Setting {
  /** What the bus answers for an entry: undefined, it is put. */
  judge: (entry: Entry) => string | undefined
  answer: (entries: Entry[]) => Error | object | undefined
  isQueueDown: boolean
}

const named = (filename: string, change: Partial<WorkspaceDocument> = {}) =>
  newDocument(newAttempt(), { filename: filename as FilePath, ...change })
const promoted = (filename: string) => promotion(named(filename))
const NONE = -1

/** E.g. a name that would have been an event of another tenant, if it were filled into JSON as it is. */
const FORGED = 'x","workspace_id":"ws_victim","document_id":"file_other'
const ODD_NAMES = [FORGED, 'line\u2028and\u2029paragraph', `${'ü'.repeat(500)}📄\u200d👩.csv`]

describe('the event of a document', () => {
  it.each(ODD_NAMES)('has the name and type that the container gave, whatever they are: %j', async (filename) => {
    const { publish, put } = setUp()
    const document = named(filename, { mimeType: `text/plain; charset="${filename.slice(0, 9)}"` })
    expect(await publish(promotion(document))).toBe(NONE)
    expect(put).toMatchObject([{ EventBusName: 'files', Source: 'container-file-promotion' }])
    const detail = {
      workspace_id: 'ws_1',
      document_id: document.documentId,
      container_id: 'sess_1',
      filename,
      mime_type: document.mimeType,
      size_bytes: 100,
      sha256: document.sha256,
      created_at: '2026-11-21T09:38:35.556Z',
      expires_at: null,
      occurred_at: '2026-11-21T09:41:21.000Z',
      sequence: 2,
    }
    const told = put.map(({ DetailType, Detail }) => [DetailType, JSON.parse(Detail)])
    expect(told).toEqual([['document.promoted', detail]])
  })

  it('of its end has what it was, and a later sequence, before that of the next document with its id', async () => {
    const { publish, put } = setUp()
    const expiresAt = new Date(1_795_254_081_000)
    const document = named('a', { countedFrom: 1_795_254_080_559, expiresAt, sha256: undefined })
    const next = { ...document, countedFrom: 1_795_254_080_560 }
    const end = (event?: string) => streamRecord(readyItem(document), deletingItem(document, event))
    await publish(promotion(document), end(), end('document.expired'), promotion(next))
    const details = put.map(({ DetailType, Detail }) => ({ DetailType, ...JSON.parse(Detail) }))
    const facts = { filename: 'a', size_bytes: 100, sha256: null, expires_at: '2026-11-21T09:41:21.000Z' }
    const [first = 0] = details.map(({ sequence }) => sequence)
    expect(first).toBe(2 * 1_795_254_080_559)
    expect(details).toMatchObject([
      { DetailType: 'document.promoted', ...facts, sequence: first },
      { DetailType: 'document.deleted', ...facts, sequence: first + 1 },
      { DetailType: 'document.expired', ...facts, sequence: first + 1 },
      { DetailType: 'document.promoted', ...facts, sequence: first + 2 },
    ])
  })

  it('comes of no other change: an undone attempt, another expiry, a tombstone, an item put back, a repair', async () => {
    const { publish, calls, kept } = setUp()
    const document = named('a')
    const later = { ...document, expiresAt: new Date(1_795_254_081_000) }
    const gone = { ...deletingItem(document), item_state: 'gone', refund_id: 'r', refund_version: 1 }
    const changes: [object | undefined, object | undefined][] = [
      [undefined, pendingItem(document)],
      [pendingItem(document), undefined],
      [readyItem(document), readyItem(later)],
      [undefined, readyItem(document)],
      [readyItem(document), undefined],
      [deletingItem(document), gone],
      [undefined, gone],
      [gone, undefined],
    ]
    expect(await publish(...changes.map(([before, after]) => streamRecord(before, after)))).toBe(NONE)
    expect([calls(), kept()]).toEqual([[], []])
  })
})

describe('an event that the bus refuses', () => {
  it.each(['InternalFailure', 'ThrottlingException'])('for now (%s) is tried again, alone', async (code) => {
    let refusals = 2
    const { publish, names, calls } = setUp({
      judge: ({ Detail }) => (Detail.includes('"b"') && refusals-- > 0 ? code : undefined),
    })
    expect(await publish(promoted('a'), promoted('b'), promoted('c'))).toBe(NONE)
    expect(names()).toEqual(['a', 'c', 'b'])
    expect(calls().map(({ length }) => length)).toEqual([3, 1, 1])
  })

  it('again and again is reported as the first to come again, and nothing is kept of it', async () => {
    const { publish, names, kept, logged } = setUp({
      judge: ({ Detail }) => (/"[bd]"/.test(Detail) ? 'ThrottlingException' : undefined),
    })
    expect(await publish(promoted('a'), promoted('b'), promoted('c'), promoted('d'))).toBe(1)
    expect([names(), kept()]).toEqual([['a', 'c'], []])
    expect(logged.map(({ level, message }) => [level, message])).toEqual([['warn', 'event not put for now']])
    expect(JSON.stringify(logged)).not.toMatch(/"[a-d]"/)
  })

  it('for good is kept whole, and holds nobody up', async () => {
    const { publish, names, kept, logged } = setUp({
      judge: ({ Detail }) => (Detail.includes('"b"') ? 'MalformedDetail' : undefined),
    })
    const records = [promoted('a'), promoted('b'), promoted('c')]
    expect(await publish(...records)).toBe(NONE)
    expect(names()).toEqual(['a', 'c'])
    expect(kept()).toEqual([{ reason: 'MalformedDetail', Records: [records[1]] }])
    expect(logged).toEqual([{ level: 'error', message: expect.any(String), reason: 'MalformedDetail' }])
  })

  it('with its whole call is the only one to be kept', async () => {
    const isInvalid = (entries: Entry[]) => entries.some(({ Detail }) => Detail.includes('"b"'))
    const answer = (entries: Entry[]) => (isInvalid(entries) ? refused(400, 'ValidationException') : undefined)
    const { publish, names, kept } = setUp({ answer })
    expect(await publish(promoted('a'), promoted('b'), promoted('c'))).toBe(NONE)
    expect([names(), kept().length]).toEqual([['a', 'c'], 1])
  })

  const FAILURES = [refused(403), refused(400, 'ResourceNotFoundException'), refused(500, 'InternalException')]
  it.each(FAILURES)('as its call fails (%s) comes again, with those of the call', async (failure) => {
    const { publish, names, kept } = setUp({ answer: (entries) => (entries.length === 10 ? failure : undefined) })
    const records = Array.from({ length: 12 }, (_, index) => promoted(`${index}`))
    expect(await publish(...records)).toBe(0)
    expect([names(), kept()]).toEqual([['10', '11'], []])
  })
})

describe('a record that cannot be read', () => {
  const { filename: _, ...nameless } = readyItem(named('b'))
  const poisoned = streamRecord(pendingItem(named('b')), nameless)
  const undated: StreamRecord = { dynamodb: { ...promoted('b').dynamodb, ApproximateCreationDateTime: 'x' as never } }

  it('is kept in characters that SQS takes', async () => {
    const { publish, kept, messages } = setUp()
    const record = streamRecord(pendingItem(named('b')), { ...nameless, mime_type: '\uffff\ufffe' })
    await publish(record)
    expect(messages.join()).not.toMatch(/[^\t\n\r -\ud7ff\ue000-\ufffd]/u)
    expect(kept().map(({ Records }) => Records)).toEqual([[record]])
  })

  it.each([poisoned, undated])('is kept whole, the rest goes on, and the log has no name: %#', async (record) => {
    const { publish, names, kept, logged } = setUp()
    expect(await publish(promoted('a'), record, promoted('c'))).toBe(NONE)
    expect(names()).toEqual(['a', 'c'])
    expect(kept().map(({ Records }) => Records)).toEqual([[record]])
    expect(JSON.stringify(logged)).not.toMatch(/"[abc]"/)
  })

  it('comes again while the queue does not take it', async () => {
    const { publish, names, logged } = setUp({ isQueueDown: true })
    expect(await publish(promoted('a'), poisoned, promoted('c'))).toBe(1)
    expect(names()).toEqual(['a', 'c'])
    expect(logged.map(({ level }) => level)).toEqual(['error', 'warn'])
  })
})

it('events are put ten at once, and no more than 256 KB', async () => {
  const { publish, calls, put } = setUp()
  const large = Array.from({ length: 5 }, () => promotion(named('x', { mimeType: 'é'.repeat(40_000) })))
  await publish(...Array.from({ length: 25 }, (_, index) => promoted(`${index}`)), ...large)
  expect(calls().map(({ length }) => length)).toEqual([10, 10, 8, 2])
  for (const entries of calls())
    expect(entries.reduce((sum, { Detail }) => sum + Buffer.byteLength(Detail), 0)).toBeLessThan(256 * 1024)
  expect(put).toHaveLength(30)
})

it('no event counts as put without an id from the bus', async () => {
  const { publish, put, messages } = setUp({ answer: () => ({}) })
  expect(await publish(promoted('a'), promoted('b'))).toBe(0)
  expect([put, messages]).toEqual([[], []])
})
