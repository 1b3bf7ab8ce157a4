import { describe, expect, it } from 'vitest'
import { eventOf, type StreamRecord } from '../../lib/aws/dynamodb/stream-record.ts'
import type { EventBus } from '../../lib/events/ports.ts'
import { publishEvents } from '../../lib/events/publish-events.ts'
import { resolveDueItems } from '../../lib/ledger/resolve-due-items.ts'
import { LONGEST_COPY_MS, undo } from '../../lib/ledger/undo.ts'
import { idOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, createTestApi, PATH } from '../support/api/test-api.ts'
import { DOCUMENTS_TABLE } from '../support/dynamodb/memory-tables.ts'
import { WORKSPACE } from '../support/ports.ts'
import { newAttempt, pendingOf } from '../support/stores/ledger-values.ts'
import { matches, streamRecordOf } from '../support/stream-records.ts'
import { packagedService } from '../support/template/packages.ts'

const created = await packagedService('prod')
const [mapping] = created.propertiesOf('AWS::Lambda::EventSourceMapping')
const patterns = mapping.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern))
const { signal } = new AbortController()

/** The API on tables in memory, and the stream of Documents. */
function setUp() {
  const api = createTestApi()
  const { tables } = api.stored
  const { execute } = tables
  const records: StreamRecord[] = []
  const events: object[] = []
  const bus: EventBus = {
    async put(put) {
      events.push(...put.map(({ type, detail }) => ({ type, ...JSON.parse(detail) })))
      return new Map()
    },
  }
  /** What the function puts of the records that the mapping lets through. */
  async function take() {
    const passed = records.splice(0).filter((record) => patterns.some((pattern: unknown) => matches(pattern, record)))
    const deps = { eventOf, bus, kept: {} as never, log: api.dependencies.log }
    expect(await publishEvents(passed, deps, signal)).toBe(undefined)
    return events.splice(0)
  }
  const itemsNow = () => {
    const items = api.stored.attributes(DOCUMENTS_TABLE)
    return new Map(items.map((item) => [JSON.stringify([item.workspace_id, item.document_id]), item]))
  }
  tables.execute = async (...args) => {
    const before = itemsNow()
    try {
      return await execute(...args)
    } finally {
      const after = itemsNow()
      for (const key of new Set([...before.keys(), ...after.keys()])) {
        const [OldImage, NewImage] = [before.get(key), after.get(key)]
        if (JSON.stringify(OldImage) !== JSON.stringify(NewImage)) records.push(streamRecordOf(OldImage, NewImage))
      }
    }
  }
  return { ...api, take, seen: () => records.length }
}

const ISO = expect.stringMatching(/^2026-.*Z$/)

describe('the events about documents', () => {
  const DOCUMENT = { workspace_id: 'ws_1', container_id: CONTAINER, filename: PATH }

  it('are one for each document that is made, deleted or expires, and none for all else', async () => {
    const api = setUp()
    const resolve = () =>
      resolveDueItems('expiry', { timeoutEachMs: 60_000 }, { ...api.dependencies, dueWork: api.dueWork }, signal)
    const headers = { 'Idempotency-Key': 'once', 'File-Expires-In': '3600' }
    const document_id = idOf(await api.promote({ headers }))
    const content = { mime_type: 'text/csv', size_bytes: CSV.length, created_at: ISO, occurred_at: ISO }
    const facts = { ...DOCUMENT, ...content, document_id, sha256: expect.any(String), sequence: expect.any(Number) }
    const expires_at = ISO
    expect(await api.take()).toEqual([{ ...facts, type: 'document.promoted', expires_at }])

    // A replay, a refusal, and another end for it.
    await api.promote({ headers })
    await api.promote({ path: 'missing.txt' })
    const id = { workspaceId: WORKSPACE, documentId: document_id as never }
    const ready = await api.documents.find(id, signal)
    if (ready?.state !== 'ready') throw new Error('the document is not there')
    expect(await api.documents.setExpiry(ready, new Date(api.clock.nowMs + 7_200_000), signal)).toBe(true)
    expect([api.seen() > 0, await api.take()]).toEqual([true, []])

    api.clock.nowMs += 7_200_000
    await resolve()
    expect(await api.take()).toEqual([{ ...facts, type: 'document.expired', expires_at }])
    // The key makes it anew.
    expect(idOf(await api.promote({ headers: { 'Idempotency-Key': 'once' } }))).toBe(document_id)
    expect(await api.take()).toEqual([{ ...facts, type: 'document.promoted', expires_at: null }])
    expect((await api.call('delete_document', { parameters: { document_id } })).status).toBe(200)
    expect((await api.call('delete_document', { parameters: { document_id } })).status).toBe(200)
    expect(await api.take()).toEqual([{ ...facts, type: 'document.deleted', expires_at: null }])

    // An attempt that died and is undone.
    const one = newAttempt({ workspaceId: WORKSPACE })
    await api.documents.begin(pendingOf(one), undefined, signal)
    await api.ledger.hold(one, signal, 0)
    await undo(one, api.clock.nowMs + LONGEST_COPY_MS, api.dependencies, signal)
    expect([api.seen() > 0, await api.take()]).toEqual([true, []])
  })

  it('come from one stream, from its beginning, with an end to all that fails', () => {
    expect(mapping).toMatchObject({
      EventSourceArn: { 'Fn::GetAtt': ['DocumentsTable', 'StreamArn'] },
      FunctionName: { Ref: 'PublishEventsLambdaFunction' },
      StartingPosition: 'TRIM_HORIZON',
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BisectBatchOnFunctionError: true,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['EventsQueue', 'Arn'] } } },
    })
    expect(mapping.MaximumRetryAttempts).toBeGreaterThan(0)
    // A stream keeps its records for a day.
    expect(mapping.MaximumRecordAgeInSeconds).toBeLessThan(24 * 3600)
  })

  it('that cannot be put are in an encrypted queue, for two weeks', () => {
    const { SqsManagedSseEnabled, MessageRetentionPeriod } = created.resource('EventsQueue').Properties
    expect([SqsManagedSseEnabled, MessageRetentionPeriod]).toEqual([true, 14 * 24 * 3600])
  })
})
