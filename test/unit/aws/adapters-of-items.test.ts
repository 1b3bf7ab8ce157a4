import {
  ProvisionedThroughputExceededException,
  RequestLimitExceeded,
  ThrottlingException,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import { stateSeconds } from '../../../lib/auth/rate-limit.ts'
import { readAuditedItem } from '../../../lib/aws/dynamodb/audited-item.ts'
import { createDocumentExpiries } from '../../../lib/aws/dynamodb/document-expiries.ts'
import { createDocumentListing } from '../../../lib/aws/dynamodb/document-listing.ts'
import { createDocumentRecords } from '../../../lib/aws/dynamodb/document-records.ts'
import { createQuotaLedger } from '../../../lib/aws/dynamodb/quota-ledger.ts'
import { createRateLimiter } from '../../../lib/aws/dynamodb/rate-limiter.ts'
import { readItem } from '../../../lib/aws/dynamodb/stored-item.ts'
import { CHECK_SHARDS, checkShardOf } from '../../../lib/aws/dynamodb/workspace-item.ts'
import type { DocumentId, WorkspaceId } from '../../../lib/ids.ts'
import { clientOf, conditionFailed, refused } from '../../support/stores/client-of.ts'
import { LEDGER_SETTINGS, newAttempt, newRelease } from '../../support/stores/ledger-values.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

const time = skipWaits()
const { signal } = new AbortController()
const workspaceId = 'ws_1' as WorkspaceId
const documentId = 'file_1' as DocumentId

it('workspaces are spread over all shards of the index of checks', () => {
  const shards = new Set(Array.from({ length: 500 }, (_, index) => checkShardOf(`ws_${index}` as WorkspaceId)))
  expect([...shards].toSorted()).toEqual(CHECK_SHARDS.map(String).toSorted())
})

describe('a page of documents', () => {
  const stored = { filename: 'a', mime_type: 'b', size_bytes: 1, container_id: 'c' }

  it('asks for what is still missing, and one more', async () => {
    const item = marshall({ ...stored, document_id: 'file_1', created_at: '2026' })
    const LastEvaluatedKey = { document_id: { S: 'file_1' } }
    const pages = [{ Items: [item, item], LastEvaluatedKey }, { Items: [item], LastEvaluatedKey }, { Items: [item] }]
    const { client, sent } = clientOf({ QueryCommand: () => pages.shift() })
    const listing = createDocumentListing({ client, tableName: 'documents', now: Date.now })
    const page = await listing.page({ workspaceId, order: 'asc', after: undefined, limit: 4 }, signal)
    expect(sent.map(({ input }) => input.Limit)).toEqual([5, 3, 2])
    expect([page.items.length, page.hasMore]).toEqual([4, false])
  })

  it('passes over what has expired in ever longer steps, and no more than ten thousand', async () => {
    const base = { ...stored, created_at: '2026-01-01T00:00:00.000Z' }
    const item = (n: number) => marshall({ ...base, document_id: `file_${n}`, ...(n !== 2 && { due_at: 5 }) })
    let read = 0
    const { client, sent } = clientOf({
      QueryCommand: () => {
        const length = Number(sent.at(-1)?.input.Limit)
        const Items = Array.from({ length }, () => item(++read))
        return { Items, LastEvaluatedKey: { document_id: { S: `file_${read}` } } }
      },
    })
    const listing = createDocumentListing({ client, tableName: 'documents', now: () => 5 })
    const page = await listing.page({ workspaceId, order: 'asc', after: undefined, limit: 4 }, signal)
    expect(sent.map(({ input }) => input.Limit)).toEqual([5, 4, 8, 16, 32, 64, 128, 256, 512, ...Array(9).fill(1000)])
    expect(page.items.map(({ documentId }) => documentId)).toEqual(['file_2'])
    expect([page.hasMore, page.last?.documentId]).toEqual([true, `file_${read}`])
  })

  it('is 503, and not answered in part, when DynamoDB keeps leaving keys unprocessed', async () => {
    const Keys = [marshall({ workspace_id: 'ws_1', document_id: 'file_1' })]
    // DynamoDB may answer without any responses.
    const { client, sent } = clientOf({ BatchGetItemCommand: () => ({ UnprocessedKeys: { documents: { Keys } } }) })
    const finding = createDocumentListing({ client, tableName: 'documents', now: Date.now }).findAll(
      workspaceId,
      [documentId],
      signal,
    )
    const cause = { message: 'keys left unprocessed' }
    await expect(finding).rejects.toMatchObject({ reason: 'service_unavailable', cause })
    expect([sent.length, time.pausesMs.length]).toEqual([4, 3])
    for (const ms of time.pausesMs) expect(ms).toBeGreaterThan(10)
  })
})

it('the next expiry is looked for among few, as the shard is not the workspace’s alone', async () => {
  const { client, sent } = clientOf({
    QueryCommand: () => ({ Items: [], LastEvaluatedKey: { document_id: { S: 'x' } } }),
  })
  const expiries = createDocumentExpiries({ client, tableName: 'documents', now: Date.now })
  expect(await expiries.nextExpiry(workspaceId, 5, signal)).toBeUndefined()
  expect(sent.map(({ input }) => input.Limit)).toEqual([200])
})

it.each([
  ['is missing', 'The table does not have the specified index: expiries', 'fulfilled'],
  ['is being filled', 'Cannot read from backfilling global secondary index: expiries', 'fulfilled'],
  ['is asked for something else', 'Query condition missed key schema element: expiry_shard', 'rejected'],
])('an index of expiries that %s: there are none yet, or it is an error', async (_, message, status) => {
  const reason = Object.assign(refused(400, 'ValidationException'), { message })
  const { client } = clientOf({ QueryCommand: () => reason })
  const expiries = createDocumentExpiries({ client, tableName: 'documents', now: Date.now })
  const listed = Array.fromAsync(expiries.listExpired({ shard: 0, nowMs: 5 }, signal))
  const answers = await Promise.allSettled([listed, expiries.nextExpiry(workspaceId, 5, signal)])
  const none = [[[]], undefined]
  expect(answers).toEqual(none.map((value) => (status === 'rejected' ? { status, reason } : { status, value })))
})

describe('a tombstone', () => {
  const tombstone = { workspace_id: 'ws_1', document_id: 'file_1', record_kind: 'tombstone' }
  const retired = { ...tombstone, attempt_id: 'a', size_bytes: 7, counted_from: 3 }
  const counted = { attemptId: 'a', sizeBytes: 7, countedFrom: 3 }

  it.each<[string, object, object]>([
    ['that is a fence holds nothing', { ...tombstone, ttl_at: 1 }, { counted: undefined }],
    ['whose deletion is not finished tells what it holds', retired, { counted, isUnfinished: true }],
    [
      'whose deletion is finished tells until when it was held',
      { ...retired, released_by: 'r', marked_in: 9, ttl_at: 1 },
      { counted: { ...counted, releasedBy: 'r', markedIn: 9 } },
    ],
  ])('%s', (_, item, row) => {
    expect(readAuditedItem(marshall(item))).toEqual({ documentId: 'file_1', ...row })
  })
})

it('a fence is one write where nothing is in its way', async () => {
  const { client, names } = clientOf({ UpdateItemCommand: () => ({}) })
  const records = createDocumentRecords({ client, tableName: 'documents', now: Date.now })
  expect(await records.fence(newAttempt(), signal)).toBe('fenced')
  expect(names()).toEqual(['UpdateItemCommand'])
})

it('a row of an unknown kind is no document', async () => {
  const Item = marshall({ document_id: 'file_1' })
  const { client } = clientOf({
    GetItemCommand: () => ({ Item }),
    BatchGetItemCommand: () => ({ Responses: { documents: [Item] } }),
  })
  const table = { client, tableName: 'documents', now: Date.now }
  expect(await createDocumentRecords(table).find(workspaceId, documentId, signal)).toBeUndefined()
  expect(await createDocumentListing(table).findAll(workspaceId, [documentId], signal)).toEqual([])
})

it('an item that cannot be read is named by its key', () => {
  const row = marshall({ workspace_id: 'ws_1', document_id: 'file_1' })
  expect(() => readAuditedItem(row)).toThrow('the item of workspace_id ws_1, document_id file_1 cannot be read')
  expect(() => readItem({ a: { N: '1' } }, { b: 'string' } as never, ['a', 'c'])).toThrow('the item of a ?, c ? cannot')
})

it('a ledger that is gone right after it was made is crowded to a taking, which tries again', async () => {
  const { client, names } = clientOf({ PutItemCommand: () => ({}), UpdateItemCommand: () => conditionFailed() })
  const ledger = createQuotaLedger({ ...LEDGER_SETTINGS, client, tableName: 'workspaces' })
  expect(await ledger.take(newAttempt(), signal)).toEqual({ outcome: 'crowded' })
  expect(names()).toEqual(['UpdateItemCommand', 'PutItemCommand', 'UpdateItemCommand'])
})

it('a release that finds the ledger full of others is told at once, and makes no item', async () => {
  const item = { workspace_id: 'ws_1', quota_bytes: 1, remaining_bytes: 1, takings: {}, releases: {} }
  const { client, names } = clientOf({ UpdateItemCommand: () => conditionFailed(marshall(item)) })
  const ledger = createQuotaLedger({ ...LEDGER_SETTINGS, client, tableName: 'workspaces' })
  expect(await ledger.mark(newRelease(newAttempt(), 'deletion'), signal)).toBe('crowded')
  expect(names()).toEqual(['UpdateItemCommand'])
})

describe('the rate limit', () => {
  const policy = { requestsPerMinute: 60, burst: 5 }

  it('writes twice at most, to a key without a row as to a quiet one, whatever happens meanwhile', async () => {
    const answers = [1500, 0, 0, 0].map((tatMs) => conditionFailed(marshall({ tat_ms: tatMs })))
    const { client, sent } = clientOf({ UpdateItemCommand: () => answers.shift() })
    let nowMs = 1000
    const rateLimiter = createRateLimiter({ client, tableName: 'limits', policy, now: () => (nowMs += 1000) })
    expect(await rateLimiter.take('k', signal)).toMatchObject({ isAllowed: false })
    expect(sent.map(({ input }) => input.UpdateExpression.includes(':first_tat'))).toEqual([true, false])
  })

  it('keeps its state for as long as a burst takes to come back, rounded up', () => {
    expect(stateSeconds({ requestsPerMinute: 7, burst: 10_081 })).toBe(86_409)
  })

  const [ofKeys, ofTable] = ['TableWriteKeyRangeThroughputExceeded', 'TableWriteMaxOnDemandThroughputExceeded']
  it.each([
    [ProvisionedThroughputExceededException, [ofKeys], true],
    [ProvisionedThroughputExceededException, [ofTable], false],
    [ThrottlingException, [ofKeys], true],
    [ThrottlingException, [ofKeys, ofTable], false],
    [RequestLimitExceeded, [], false],
  ])('refuses a key whose own item is throttled, and no other: %o %j', async (Thrown, reasons, isRefused) => {
    const given = reasons.map((reason) => ({ reason }))
    const about = { $metadata: {}, message: 'no', throttlingReasons: given, ThrottlingReasons: given }
    const { client } = clientOf({ UpdateItemCommand: () => new Thrown(about) })
    const rateLimiter = createRateLimiter({ client, tableName: 'limits', policy, now: () => 1000 })
    const told = [{ isAllowed: false, remaining: 0, resetMs: 5000, retryAfterMs: 1000 }, { retryAfterMs: 1000 }]
    for (const ask of [() => rateLimiter.take('k', signal), () => rateLimiter.beginWait('k', 1000, signal)]) {
      if (isRefused) expect(await ask()).toEqual(told.shift())
      else await expect(ask()).rejects.toMatchObject({ reason: 'service_unavailable' })
    }
  })
})
