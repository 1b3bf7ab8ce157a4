import { describe, expect, it } from 'vitest'
import { planParts } from '../../../lib/aws/s3/copy-plan.ts'
import {
  dynamoDbError,
  dynamoDbRows,
  HANGS,
  LARGE,
  REFUSED,
  SMALL,
  s3Error,
  straysAfter,
} from '../../support/protocol/aws-failures.ts'
import type { Fault } from '../../support/protocol/fault-proxy.ts'
import { expectRow, LARGE_BYTES, usePromotionsThatFail } from '../../support/protocol/promotions-that-fail.ts'

describe('whatever AWS answers ends in one row of this map, and nothing is left', () => {
  const { inProcess, promoteBroken } = usePromotionsThatFail()

  it.each([...SMALL, ...dynamoDbRows('ledger.makeWorkspace')])(
    '%s %s: %d %s',
    async (call, what, status, reason, fault) => {
      expectRow(await promoteBroken(call, fault, Buffer.from('small')), status, reason, straysAfter(call, what))
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
      'ledger.take',
      'documents.record',
    ].map((call) => [call, 'request_timed_out', 2000] satisfies [string, string, number]),
    ['UploadPartCopy', 'request_timed_out', 3000, LARGE_BYTES],
    // After three tries, an hour before the deadline.
    ['HeadObject', 'service_unavailable', undefined],
  ])('%s never answers: 503 %s, with everything undone', async (call, reason, hangsMs, bytes) => {
    const leftMs = hangsMs ?? 3_600_000
    const failed = await promoteBroken(call, HANGS, bytes ?? Buffer.from('small'), { leftMs, hangsMs: hangsMs ?? 0 })
    expectRow(failed, 503, reason, straysAfter(call, 'never answers'))
  })

  it.each<[string, string, number, Fault]>([
    ['refused', 'the promotion goes on', 200, REFUSED],
    ['denied', 'the promotion goes on', 200, dynamoDbError(400, 'AccessDeniedException')],
    ['hanging', 'the promotion goes on', 200, HANGS],
    ['limited with the account', 'the promotion goes on', 200, dynamoDbError(400, 'RequestLimitExceeded')],
    ['throttled', 'the key is too fast', 429, dynamoDbError(400, 'ProvisionedThroughputExceededException')],
  ])('the rate limit %s: %s', async (_, __, status, fault) => {
    const { response } = await promoteBroken('rateLimit.take', fault, Buffer.from('small'), { hangsMs: 1000 })
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
      await service.putFile(workspace, 'a.txt', Buffer.from('small'))
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
