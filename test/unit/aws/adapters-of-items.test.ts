import {
  ProvisionedThroughputExceededException,
  RequestLimitExceeded,
  ThrottlingException,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import { stateSeconds } from '../../../lib/auth/rate-limit.ts'
import { DUE_SHARDS, dueShard, dueShardOf } from '../../../lib/aws/dynamodb/document-codec.ts'
import type { ContainerId, DocumentId, WorkspaceId } from '../../../lib/ids.ts'
import { DOCUMENTS_TABLE } from '../../support/dynamodb/memory-tables.ts'
import { clientOf, conditionFailed, storesOn } from '../../support/stores/client-of.ts'
import { counter, createLimiter } from '../../support/stores/keys-and-limits.ts'
import { newAttempt, newRefund, signal, storedLedger } from '../../support/stores/ledger-values.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

const time = skipWaits()
const workspaceId = 'ws_1' as WorkspaceId
const documentId = 'file_1' as DocumentId

it.each(['work', 'expiry'] as const)('due work of the kind %s is spread over all shards of the index', (kind) => {
  const shards = new Set(Array.from({ length: 500 }, (_, index) => dueShardOf(kind, `file_${index}` as DocumentId)))
  expect([...shards].toSorted()).toEqual(DUE_SHARDS.map((shard) => dueShard(kind, shard)).toSorted())
})

describe('a page of documents', () => {
  const stored = { filename: 'a', mime_type: 'b', size_bytes: 1, container_id: 'c' }

  it('asks for what is still missing, and one more', async () => {
    const item = marshall({ ...stored, document_id: 'file_1', created_at: '2026' })
    const LastEvaluatedKey = { document_id: { S: 'file_1' } }
    const pages = [{ Items: [item, item], LastEvaluatedKey }, { Items: [item], LastEvaluatedKey }, { Items: [item] }]
    const { listing, sent } = storesOn({ QueryCommand: () => pages.shift() })
    const page = await listing.page({ workspaceId, order: 'asc', after: undefined, limit: 4 }, signal)
    expect(sent.map(({ input }) => input.Limit)).toEqual([5, 3, 2])
    expect([page.items.length, page.hasMore]).toEqual([4, false])
  })

  it.each([
    {
      what: 'expired',
      containerId: undefined,
      at: 2,
      steps: [5, 4, 8, 16, 32, 64, 128, 256, 512, ...Array(9).fill(1000)],
    },
    { what: 'another container’s', containerId: 'c' as ContainerId, at: 15_000, steps: Array(14).fill(1000) },
  ])('passes over what is $what in ever longer steps, no more than it has to', async ({ containerId, at, steps }) => {
    const base = { ...stored, created_at: '2026-01-01T00:00:00.000Z' }
    const item = (n: number) => marshall({ ...base, document_id: `file_${n}`, ...(n !== at && { due_at: 5 }) })
    let read = 0
    const QueryCommand = ({ Limit: ScannedCount }: { Limit: number }) => {
      const all = Array.from({ length: ScannedCount }, () => ++read)
      const Items = all.filter((n) => containerId === undefined || n === at).map(item)
      return { Items, ScannedCount, LastEvaluatedKey: marshall({ listed_at: `${base.created_at} file_${read}` }) }
    }
    const { listing, sent } = storesOn({ QueryCommand }, { now: () => 5 })
    const page = await listing.page({ workspaceId, order: 'asc', containerId, after: undefined, limit: 4 }, signal)
    const limits = sent.map(({ input }) => input.Limit)
    expect(limits.slice(-steps.length)).toEqual(steps)
    expect(page.items.map(({ documentId }) => documentId)).toEqual([`file_${at}`])
    const last = { createdAt: new Date(base.created_at), documentId: `file_${read}` }
    expect(page).toMatchObject({ hasMore: true, last })
    expect(read).toBeLessThan(Math.max(at, 10_000) + 1024)
  })

  it('is 503, and not answered in part, when DynamoDB keeps leaving keys unprocessed', async () => {
    const Keys = [marshall({ workspace_id: 'ws_1', document_id: 'file_1' })]
    // DynamoDB may answer without any responses.
    const UnprocessedKeys = { [DOCUMENTS_TABLE]: { Keys } }
    const { listing, sent } = storesOn({ BatchGetItemCommand: () => ({ UnprocessedKeys }) })
    const unavailable = { reason: 'service_unavailable', cause: { message: 'keys left unprocessed' } }
    await expect(listing.findAll(workspaceId, [documentId], signal)).rejects.toMatchObject(unavailable)
    expect([sent.length, time.pausesMs.length]).toEqual([4, 3])
    for (const ms of time.pausesMs) expect(ms).toBeGreaterThan(10)
  })
})

it('a ledger that is gone right after it was made is crowded to a hold, which tries again', async () => {
  const { ledger, names, sent } = storesOn({ PutItemCommand: () => ({}), UpdateItemCommand: () => conditionFailed() })
  expect(await ledger.hold(newAttempt(), signal, 0)).toEqual({ outcome: 'crowded' })
  expect(names()).toEqual(['UpdateItemCommand', 'PutItemCommand', 'UpdateItemCommand'])
  // Another's may be there meanwhile.
  expect(sent[1]?.input.ConditionExpression).toBe('attribute_not_exists(workspace_id)')
})

describe('a crowded ledger', () => {
  const attempt = newAttempt()
  const STORED = storedLedger()

  /** A ledger that is crowded for so many tries. */
  function setUp(triesRefused: number) {
    const stores = storesOn({
      UpdateItemCommand: () => (stores.sent.length <= triesRefused ? conditionFailed(STORED) : { Attributes: STORED }),
    })
    return stores
  }
  const waitedMs = () => time.pausesMs.reduce((sum, ms) => sum + ms, 0)

  it('lets a hold wait for a place, longer each time, up to 1.3 s', async () => {
    const { ledger, sent } = setUp(8)
    expect(await ledger.hold(attempt, signal, 60_000)).toMatchObject({ outcome: 'held', ledger: { version: 7 } })
    expect(sent).toHaveLength(9)
    expect(time.pausesMs.every((ms, index) => ms <= Math.min(1300, 30 * 2 ** index))).toBe(true)
    expect(time.pausesMs.at(-1)).toBeGreaterThan(600)
  })

  it('makes a hold give up when the caller’s patience is over: about ten tries in six seconds', async () => {
    const { ledger, sent } = setUp(Number.POSITIVE_INFINITY)
    expect(await ledger.hold(attempt, signal, 6000)).toMatchObject({ outcome: 'crowded' })
    expect([waitedMs() > 4500, waitedMs() < 6000]).toEqual([true, true])
    expect([sent.length >= 8, sent.length <= 15]).toEqual([true, true])
  })

  it('is not waited for when the room is not there', async () => {
    const { ledger, sent } = setUp(Number.POSITIVE_INFINITY)
    expect(await ledger.hold(newAttempt({ sizeBytes: 901 }), signal, 6000)).toMatchObject({ outcome: 'quota_exceeded' })
    expect(sent).toHaveLength(1)
  })

  it('makes a hold give up when the time of the request is over', async () => {
    const { ledger, sent } = setUp(Number.POSITIVE_INFINITY)
    const ended = new AbortController()
    time.beforePause = () => ended.abort()
    expect(await ledger.hold(attempt, ended.signal, 6000)).toMatchObject({ outcome: 'crowded' })
    expect(sent).toHaveLength(1)
  })

  it('lets a refund wait for a place, some 50 ms at a time', async () => {
    const { ledger } = setUp(20)
    expect(await ledger.beginRefund(newRefund(attempt), signal, 1500)).toMatchObject({ refundVersion: 7 })
    expect(Math.max(...time.pausesMs)).toBeLessThanOrEqual(65)
    // So it does not take the item's writes from those who free places.
    expect(waitedMs()).toBeGreaterThan(500)
  })
})

describe('the rate limit', () => {
  const policy = { requestsPerMinute: 60, burst: 5 }

  it.each([
    ['twice where others are faster', [2500, 8000], [true, false]],
    ['four times, whatever it finds', [2500, 0, 0, 0, 0], [true, false, true, true]],
  ])('writes %s', async (_, found, isFirst) => {
    const answers = found.map((tatMs) => conditionFailed(marshall({ tat_ms: tatMs })))
    const { client, sent } = clientOf({ UpdateItemCommand: () => answers.shift() })
    const rateLimiter = createLimiter(policy, () => 2000, { client })
    expect(await rateLimiter.take(counter(), signal)).toMatchObject({ isAllowed: false })
    expect(sent.map(({ input }) => input.UpdateExpression.includes(':first_tat'))).toEqual(isFirst)
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
    const rateLimiter = createLimiter(policy, () => 1000, { client })
    const told = { policy, isAllowed: false, isDisabled: false, remaining: 0, resetMs: 5000, retryAfterMs: 1000 }
    const hold = rateLimiter.take(counter(), signal)
    if (isRefused) expect(await hold).toEqual(told)
    else await expect(hold).rejects.toMatchObject({ reason: 'service_unavailable' })
  })
})
