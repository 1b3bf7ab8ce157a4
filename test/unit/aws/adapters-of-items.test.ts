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
import { newAttempt, signal } from '../../support/stores/ledger-values.ts'
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
  ])(
    'passes over what is $what in ever longer steps, and no more than it has to',
    async ({ containerId, at, steps }) => {
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
    },
  )

  it('is 503, and not answered in part, when DynamoDB keeps leaving keys unprocessed', async () => {
    const Keys = [marshall({ workspace_id: 'ws_1', document_id: 'file_1' })]
    // DynamoDB may answer without any responses.
    const UnprocessedKeys = { [DOCUMENTS_TABLE]: { Keys } }
    const { listing, sent } = storesOn({ BatchGetItemCommand: () => ({ UnprocessedKeys }) })
    const cause = { message: 'keys left unprocessed' }
    await expect(listing.findAll(workspaceId, [documentId], signal)).rejects.toMatchObject({
      reason: 'service_unavailable',
      cause,
    })
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
