import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { planParts } from '../../../lib/aws/s3/copy-plan.ts'
import {
  dynamoDbError,
  dynamoDbRows,
  HANGS,
  LARGE,
  LOST,
  REFUSED,
  SMALL,
  s3Error,
  straysAfter,
} from '../../support/protocol/aws-failures.ts'
import type { Fault } from '../../support/protocol/fault-proxy.ts'
import {
  expectRow,
  kept,
  LARGE_BYTES,
  NOTHING,
  usePromotionsThatFail,
} from '../../support/protocol/promotions-that-fail.ts'
import type { WorkspaceState } from '../../support/protocol/workspaces.ts'

const SMALL_BYTES = Buffer.from('small')
const SMALL_SHA256 = createHash('sha256').update(SMALL_BYTES).digest('hex')
const DENIED = dynamoDbError(400, 'AccessDeniedException')

const { inProcess, promoteBroken, promoteWith } = usePromotionsThatFail()

describe('whatever AWS answers ends in one row of this map, and nothing is left', () => {
  it.each([...SMALL, ...dynamoDbRows('ledger.makeWorkspace')])(
    '%s %s: %d %s',
    async (call, what, status, reason, fault) => {
      expectRow(await promoteBroken(call, fault, SMALL_BYTES), status, reason, straysAfter(call, what))
    },
  )

  it.each(LARGE)('%s %s: %d %s', async (call, what, status, reason, fault) => {
    if (call !== 'UploadPartCopy' || what !== 'asks to slow down') {
      return expectRow(await promoteBroken(call, fault, LARGE_BYTES), status, reason, straysAfter(call, what))
    }
    // Parts that S3 refuses wait their turn until the time is over: in a pause, or in a call whose answer is then unknown.
    const failed = await promoteBroken(call, fault, LARGE_BYTES, { leftMs: 4000 })
    const isInCall = JSON.stringify(failed.response.body).includes('request_timed_out')
    expectRow(failed, status, isInCall ? 'request_timed_out' : reason, isInCall ? 1 : 0)
  })

  it.each<[call: string, reason: string, hangsMs: number | undefined, bytes?: Buffer]>([
    // Sooner than the clients would give up by themselves.
    ...[
      'keys.find',
      'HeadObject',
      'ledger.read',
      'documents.begin',
      'CopyObject',
      'ledger.hold',
      'documents.record',
    ].map((call) => [call, 'request_timed_out', 2000] satisfies [string, string, number]),
    ['UploadPartCopy', 'request_timed_out', 3000, LARGE_BYTES],
    // After three tries, an hour before the deadline.
    ['HeadObject', 'service_unavailable', undefined],
  ])('%s never answers: 503 %s, with everything undone', async (call, reason, hangsMs, bytes) => {
    const leftMs = hangsMs ?? 3_600_000
    const failed = await promoteBroken(call, HANGS, bytes ?? SMALL_BYTES, { leftMs, hangsMs: hangsMs ?? 0 })
    expectRow(failed, 503, reason, straysAfter(call, 'never answers'))
  })

  it.each<[string, string, number, Fault]>([
    ['refused', 'the promotion goes on', 200, REFUSED],
    ['denied', 'the promotion goes on', 200, DENIED],
    ['hanging', 'the promotion goes on', 200, HANGS],
    ['limited with the account', 'the promotion goes on', 200, dynamoDbError(400, 'RequestLimitExceeded')],
    ['throttled', 'the key is too fast', 429, dynamoDbError(400, 'ProvisionedThroughputExceededException')],
  ])('the rate limit %s: %s', async (_, __, status, fault) => {
    const { response } = await promoteBroken('rateLimit.take', fault, SMALL_BYTES, { hangsMs: 1000 })
    expect(response.status).toBe(status)
  })

  it('ListObjectsV2 fails, asked whether a container exists: not taken for a missing one', () =>
    inProcess(async (service) => {
      const workspace = await service.newWorkspace()
      service.breakCalls(({ name }) => (name === 'ListObjectsV2' ? s3Error(503, 'SlowDown') : undefined))
      const response = await service.promote(workspace, 'missing.txt')
      expect(response).toMatchObject({ status: 503, body: { error: { metadata: { reason: 'service_unavailable' } } } })
    }))

  it('pins the source, describes the copy and leaves tags and annotations behind, on the wire', () =>
    inProcess(async (service) => {
      const workspace = await service.newWorkspace()
      await service.putFile(workspace, 'a.txt', SMALL_BYTES)
      await service.putFile(workspace, 'b.txt', LARGE_BYTES)
      await service.promote(workspace, 'a.txt')
      await service.promote(workspace, 'b.txt')
      const calls = service.takeCalls()
      const headersOf = (call: string) => calls.filter(({ name }) => name === call).map(({ headers }) => headers)
      expect(headersOf('CopyObject')).toEqual([
        expect.objectContaining({
          'x-amz-copy-source-if-match': expect.stringMatching(/^"[0-9a-f]{32}"$/),
          'if-none-match': '*',
          'x-amz-checksum-algorithm': 'SHA256',
          'x-amz-metadata-directive': 'REPLACE',
          'x-amz-tagging-directive': 'REPLACE',
          'x-amz-object-annotation-directive': 'EXCLUDE',
          'content-type': 'text/plain',
        }),
      ])
      const plan = planParts(LARGE_BYTES.length, service.config)
      expect(headersOf('UploadPartCopy')).toHaveLength(plan?.partCount ?? 0)
      for (const headers of headersOf('UploadPartCopy')) {
        expect(headers['x-amz-copy-source-if-match']).toMatch(/^"[0-9a-f]{32}"$/)
      }
      expect(headersOf('CompleteMultipartUpload')).toEqual([
        expect.objectContaining({ 'if-none-match': '*', 'x-amz-mp-object-size': String(LARGE_BYTES.length) }),
      ])
      const reads = calls.filter(({ name }) => name === 'keys.find').map(({ body }) => JSON.parse(body).ConsistentRead)
      expect(reads).toEqual([true, true])
    }))
})

// The fault matrix has that nothing is left behind; here stand the answer, how often a call is sent, and what is left.
describe('a call that takes effect, and whose answer is lost', () => {
  it.each<[call: string, status: number, sent: number, state: WorkspaceState, bytes?: Buffer]>([
    ['keys.find', 200, 2, kept(5)],
    // Counted by the first, and once more: the key loses one request for an instant.
    ['rateLimit.take', 200, 3, kept(5)],
    ['HeadObject', 200, 2, kept(5)],
    ['ledger.read', 200, 2, kept(5)],
    ['documents.begin', 503, 1, NOTHING],
    ['CopyObject', 200, 1, kept(5)],
    // The hold may arrive later.
    ['ledger.hold', 503, 1, { ...NOTHING, strays: 1 }],
    ['documents.record', 200, 2, kept(5)],
    ['ledger.capture', 200, 2, kept(5)],
    ['CreateMultipartUpload', 503, 1, { ...NOTHING, strays: 1 }, LARGE_BYTES],
    ['UploadPartCopy', 200, 3, kept(LARGE_BYTES.length), LARGE_BYTES],
    ['CompleteMultipartUpload', 200, 1, kept(LARGE_BYTES.length), LARGE_BYTES],
  ])('%s, its first answer lost: %i, after %i calls', async (call, status, sent, left, bytes = SMALL_BYTES) => {
    let isLost = false
    const { response, calls, state, healed } = await promoteWith(
      (name) => {
        if (name !== call || isLost) return undefined
        isLost = true
        return LOST
      },
      bytes,
      { quotaBytes: 10 ** 9 },
    )
    const times = calls.filter((name) => name === call).length
    expect({ isLost, status: response.status, times, state }).toEqual({
      isLost: true,
      status,
      times: sent,
      state: left,
    })
    expect(response.headers['file-sha256']).toBe(status === 200 && bytes === SMALL_BYTES ? SMALL_SHA256 : undefined)
    if (state.strays > 0) expect(healed).toEqual(NOTHING)
  })

  it.each<[call: string, fault: Fault, unfinished: number]>([
    ['documents.record', LOST, 0],
    // The hold stays.
    ['ledger.capture', REFUSED, 1],
  ])('%s, never an answer: 200, for the document is there', async (call, fault, unfinished) => {
    const { response, state } = await promoteBroken(call, fault, SMALL_BYTES)
    expect([response.status, state]).toEqual([200, { ...kept(5), unfinished }])
  })

  it.each<[undoCall: string, record: Fault, status: number, left: Partial<WorkspaceState>]>([
    ['documents.putStray', DENIED, 500, { objects: 1, unfinished: 2 }],
    ['documents.fence', DENIED, 500, { objects: 1, unfinished: 2, strays: 1 }],
    ['documents.fence', LOST, 503, { objects: 1, unfinished: 1, strays: 1, documents: 1 }],
    ['ListMultipartUploads', DENIED, 500, { objects: 1, unfinished: 1, strays: 1 }],
    ['DeleteObject', DENIED, 500, { objects: 1, unfinished: 1, strays: 1 }],
    ['ledger.void', DENIED, 500, { unfinished: 1, strays: 1 }],
    ['documents.removeStray', DENIED, 500, { usedBytes: 0, strays: 1 }],
  ])(
    '%s of the undo refused: the first failure is told, and what is left leads to it',
    async (call, record, status, left) => {
      const fail = (name: string) => (name === 'documents.record' ? record : name === call ? REFUSED : undefined)
      const { response, state } = await promoteWith(fail, SMALL_BYTES)
      expect([response.status, state]).toEqual([status, { ...NOTHING, usedBytes: 5, ...left }])
    },
  )
})
