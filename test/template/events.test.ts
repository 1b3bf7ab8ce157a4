import { describe, expect, it } from 'vitest'
import { createDueWork } from '../../lib/aws/dynamodb/due-work.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { resolveDueItems } from '../../lib/ledger/resolve-due-items.ts'
import { LONGEST_COPY_MS, undo } from '../../lib/ledger/undo.ts'
import { idOf } from '../support/api/idempotent-promotions.ts'
import { CONTAINER, CSV, createTestApi, PATH } from '../support/api/test-api.ts'
import { DOCUMENTS_TABLE } from '../support/dynamodb/memory-tables.ts'
import { newAttempt, pendingOf } from '../support/stores/ledger-values.ts'
import { readStatements } from '../support/template/iam-template.ts'
import { packagedService } from '../support/template/packages.ts'

type Item = Record<string, Record<string, unknown>>
interface StreamRecord {
  dynamodb: { NewImage?: Item | undefined; OldImage?: Item | undefined }
}

const withBus = await packagedService('existing')
const pipes = withBus.propertiesOf('AWS::Pipes::Pipe')
const { signal } = new AbortController()

/** A record's value at a path, such as $.dynamodb.NewImage.filename.S. */
const at = (record: StreamRecord, path: string): unknown =>
  path
    .split('.')
    .slice(1)
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], record)

/** EventBridge user guide, "Event patterns": each field that is named has one of these values. Only that is known here. */
function matches(pattern: unknown, value: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some((each) => each === value)
  return Object.entries(pattern as object).every(([name, inner]) =>
    matches(inner, (value as Record<string, unknown>)?.[name]),
  )
}

/** As the pipes would put them. A path that leads nowhere is taken for an empty text, which no page of AWS says. */
const eventsOf = (records: StreamRecord[]) =>
  records.flatMap((record) =>
    pipes.flatMap(({ SourceParameters, TargetParameters }) => {
      const { Filters } = SourceParameters.FilterCriteria
      if (!Filters.some(({ Pattern }: { Pattern: string }) => matches(JSON.parse(Pattern), record))) return []
      const { Source, DetailType } = TargetParameters.EventBridgeEventBusParameters
      const filled = (TargetParameters.InputTemplate as string).replace(/<(\$[\w.]+)>/g, (_, path) =>
        String(at(record, path) ?? ''),
      )
      return { Source, type: DetailType.startsWith('$') ? at(record, DetailType) : DetailType, ...JSON.parse(filled) }
    }),
  )

/** The API on tables in memory, and the stream of Documents. */
function setUp() {
  const api = createTestApi()
  const { tables } = api.stored
  const { execute } = tables
  const records: StreamRecord[] = []
  const itemsNow = () =>
    new Map(
      api.stored
        .attributes(DOCUMENTS_TABLE)
        .map((item) => [JSON.stringify([item.workspace_id, item.document_id]), item as unknown as Item]),
    )
  tables.execute = async (...args) => {
    const before = itemsNow()
    try {
      return await execute(...args)
    } finally {
      const after = itemsNow()
      for (const key of new Set([...before.keys(), ...after.keys()])) {
        const [OldImage, NewImage] = [before.get(key), after.get(key)]
        if (JSON.stringify(OldImage) !== JSON.stringify(NewImage)) records.push({ dynamodb: { NewImage, OldImage } })
      }
    }
  }
  return { ...api, take: () => eventsOf(records.splice(0)), seen: () => records.length }
}

describe('the events about documents', () => {
  const DOCUMENT = { Source: 'container-file-promotion', workspace_id: 'ws_1', container_id: CONTAINER, filename: PATH }

  it('are one for each document that is made, deleted or expires, and none for all else', async () => {
    const api = setUp()
    const resolve = () => {
      const dueWork = createDueWork({
        client: api.stored.client,
        tableName: DOCUMENTS_TABLE,
        now: api.dependencies.now,
      })
      return resolveDueItems('expiry', { timeoutEachMs: 60_000 }, { ...api.dependencies, dueWork }, signal)
    }
    const headers = { 'Idempotency-Key': 'once', 'File-Expires-In': '3600' }
    const document_id = idOf(await api.promote({ headers }))
    const content = { mime_type: 'text/csv', size_bytes: String(CSV.length), created_at: expect.stringMatching(/Z$/) }
    const facts = { ...DOCUMENT, ...content, document_id, sha256: expect.any(String) }
    const expires_at_ms = expect.stringMatching(/^\d{13}$/)
    expect(api.take()).toEqual([{ ...facts, type: 'document.promoted', expires_at_ms }])

    // A replay, a refusal, and another end for it.
    await api.promote({ headers })
    await api.promote({ path: 'missing.txt' })
    const [document] = api.stored.documents()
    const ready = await api.documents.find(
      { workspaceId: 'ws_1' as WorkspaceId, documentId: document_id as never },
      signal,
    )
    if (document === undefined || ready?.state !== 'ready') throw new Error('the document is not there')
    expect(await api.documents.setExpiry(ready, new Date(api.clock.nowMs + 7_200_000), signal)).toBe(true)
    expect([api.seen() > 0, api.take()]).toEqual([true, []])

    api.clock.nowMs += 7_200_000
    await resolve()
    expect(api.take()).toEqual([{ ...facts, type: 'document.expired', expires_at_ms }])
    // The key makes it anew.
    expect(idOf(await api.promote({ headers: { 'Idempotency-Key': 'once' } }))).toBe(document_id)
    expect(api.take()).toEqual([{ ...facts, type: 'document.promoted', expires_at_ms: '' }])
    expect((await api.call('delete_document', { parameters: { document_id } })).status).toBe(200)
    expect((await api.call('delete_document', { parameters: { document_id } })).status).toBe(200)
    expect(api.take()).toEqual([{ ...facts, type: 'document.deleted', expires_at_ms: '' }])

    // An attempt that died and is undone.
    const one = newAttempt({ workspaceId: 'ws_1' as WorkspaceId })
    await api.documents.begin(pendingOf(one), undefined, signal)
    await api.ledger.take(one, signal, 0)
    await undo(one, api.clock.nowMs + LONGEST_COPY_MS, api.dependencies, signal)
    expect([api.seen() > 0, api.take()]).toEqual([true, []])
  })

  it('name no object key and no token', () => {
    for (const { TargetParameters } of pipes)
      expect(TargetParameters.InputTemplate).not.toMatch(/object_key|token|created_by/)
  })

  it('come from roles that read one stream and put on one bus', () => {
    const statements = readStatements(withBus, 'EventsRole')
    expect(statements.flatMap(({ actions }) => actions).toSorted()).toEqual([
      ...['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams'],
      'events:PutEvents',
    ])
    expect(statements.flatMap(({ resources }) => resources)).not.toContain('*')
  })
})
