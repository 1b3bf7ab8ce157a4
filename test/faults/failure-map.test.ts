import { describe, expect, it } from 'vitest'
import { planParts } from '../../lib/aws/copy-plan.ts'
import type { Fault } from '../support/faults/fault-proxy.ts'
import type { TestProcess } from '../support/faults/test-process.ts'
import { useTestProcesses } from '../support/faults/use-test-processes.ts'
import type { WorkspaceState } from '../support/faults/workspaces.ts'
import { patternBytes } from '../support/pattern-bytes.ts'

const s3Error = (status: number, code: string) => ({
  kind: 'answer' as const,
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>secret-internal arn:aws:s3:::secret</Message></Error>`,
})
const headError = (status: number): Fault => ({ kind: 'answer', status })
const dynamoDbError = (status: number, type: string): Fault => ({
  kind: 'answer',
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: JSON.stringify({
    __type: `com.amazonaws.dynamodb.v20120810#${type}`,
    message: 'secret-internal arn:aws:dynamodb:secret',
  }),
})

const REFUSED: Fault = { kind: 'refuse' }
const LOST: Fault = { kind: 'lose_answer' }
const HANGS: Fault = { kind: 'hang' }
const ERROR_IN_200 = s3Error(200, 'InternalError')
/** A body that the SDK takes for a success: only the missing ETag tells. */
const DISGUISED_ERROR: Fault = { ...ERROR_IN_200, body: `${ERROR_IN_200.body}\n` }
const EMPTY_200: Fault = { kind: 'answer', status: 200, headers: { 'content-type': 'application/xml' } }

const NOTHING: WorkspaceState = { documents: 0, objects: 0, unfinishedUploads: 0, usedBytes: 0, reservations: 0 }

type Row = [call: string, what: string, status: number, reason: string, fault: Fault]
const dynamoDbRows = (call: string): Row[] => [
  [call, 'throttles', 503, 'service_unavailable', dynamoDbError(400, 'ProvisionedThroughputExceededException')],
  [call, 'limits the account', 503, 'service_unavailable', dynamoDbError(400, 'RequestLimitExceeded')],
  [call, 'fails inside', 503, 'service_unavailable', dynamoDbError(500, 'InternalServerError')],
  [call, 'is unavailable', 503, 'service_unavailable', dynamoDbError(503, 'ServiceUnavailable')],
  [call, 'does not take the connection', 503, 'service_unavailable', REFUSED],
  [call, 'denies our role', 500, 'internal_error', dynamoDbError(400, 'AccessDeniedException')],
  [call, 'does not know the table', 500, 'internal_error', dynamoDbError(400, 'ResourceNotFoundException')],
  [call, 'finds the request invalid', 500, 'internal_error', dynamoDbError(400, 'ValidationException')],
]
const s3Rows = (call: string): Row[] => [
  [call, 'asks to slow down', 503, 'service_unavailable', s3Error(503, 'SlowDown')],
  [call, 'fails inside', 503, 'service_unavailable', s3Error(500, 'InternalError')],
  [call, 'does not take the connection', 503, 'service_unavailable', REFUSED],
  [call, 'denies our role', 500, 'internal_error', s3Error(403, 'AccessDenied')],
  [call, 'does not know the bucket', 500, 'internal_error', s3Error(404, 'NoSuchBucket')],
  [call, 'finds the request invalid', 500, 'internal_error', s3Error(400, 'InvalidRequest')],
]
const copyRows = (call: string): Row[] => [
  ...s3Rows(call),
  [call, 'finds the source changed', 503, 'container_file_changed', s3Error(412, 'PreconditionFailed')],
  [call, 'finds the source gone', 503, 'container_file_changed', s3Error(404, 'NoSuchKey')],
  [call, 'finds the source archived', 404, 'container_file_archived', s3Error(403, 'InvalidObjectState')],
  [call, 'answers 200 with an error', 503, 'service_unavailable', ERROR_IN_200],
  [call, 'answers 200 with an error in disguise', 503, 'service_unavailable', DISGUISED_ERROR],
  [call, 'answers 200 with nothing', 503, 'service_unavailable', EMPTY_200],
]

const SMALL: Row[] = [
  ...dynamoDbRows('keys.find'),
  // A ledger that is throttled has more load than it can carry: that is refused, after some patience.
  ...dynamoDbRows('ledger.take').map(([call, what, status, reason, fault]): Row => {
    const isLoad = what === 'throttles' || what === 'limits the account'
    return [call, what, isLoad ? 429 : status, isLoad ? 'too_many_promotions' : reason, fault]
  }),
  ...dynamoDbRows('reservations.open'),
  ...dynamoDbRows('documents.record'),
  ['HeadObject', 'asks to slow down', 503, 'service_unavailable', headError(503)],
  ['HeadObject', 'fails inside', 503, 'service_unavailable', headError(500)],
  ['HeadObject', 'does not take the connection', 503, 'service_unavailable', REFUSED],
  ['HeadObject', 'denies our role', 500, 'internal_error', headError(403)],
  ['HeadObject', 'finds the request invalid', 500, 'internal_error', headError(400)],
  ['HeadObject', 'sends us to another region', 500, 'internal_error', headError(301)],
  ['HeadObject', 'answers without length and ETag', 500, 'internal_error', { kind: 'answer', status: 200 }],
  ...copyRows('CopyObject'),
]
const LARGE: Row[] = [
  ...s3Rows('CreateMultipartUpload'),
  ...copyRows('UploadPartCopy'),
  ...copyRows('CompleteMultipartUpload').slice(0, 6),
]
LARGE.push(
  ['CompleteMultipartUpload', 'answers 200 with an error', 503, 'service_unavailable', ERROR_IN_200],
  ['CompleteMultipartUpload', 'answers 200 with an error in disguise', 503, 'service_unavailable', DISGUISED_ERROR],
  ['CompleteMultipartUpload', 'has lost the upload', 503, 'promotion_timed_out', s3Error(404, 'NoSuchUpload')],
)

describe.concurrent('whatever AWS answers ends in one row of this map, and nothing is left', () => {
  // With the product's own time limits: they are what ends some of these rows.
  const processes = useTestProcesses({ atOnce: 8, hasOwnTimeouts: true })
  const inProcess = <Result>(test: (service: TestProcess) => Promise<Result>) =>
    processes.one((service) => {
      service.restart()
      service.stopClock(undefined)
      return test(service)
    })

  const promoteBroken = (call: string, fault: Fault, bytes: Buffer, remainingMs?: () => number) =>
    inProcess(async (service) => {
      const workspace = await service.newWorkspace()
      await service.putFile(workspace, 'a.txt', bytes)
      service.breakCalls(({ name }) => (name === call ? fault : undefined))
      const response = await service.promote(workspace, 'a.txt', { remainingMs })
      expect(service.takeCallNames()).toContain(call)
      expect(JSON.stringify(response)).not.toMatch(/secret|arn:|sandboxes\/|local-|at .*\.ts|Exception/)
      return { response, state: await service.stateOf(workspace) }
    })
  const expectRow = (
    { response, state }: Awaited<ReturnType<typeof promoteBroken>>,
    status: number,
    reason: string,
  ) => {
    expect(response).toMatchObject({ status, body: { error: { metadata: { reason } } } })
    expect(state).toEqual(NOTHING)
  }

  it.each(SMALL)('%s %s: %d %s', async (call, _, status, reason, fault) => {
    expectRow(await promoteBroken(call, fault, Buffer.from('small')), status, reason)
  })

  it.each(LARGE)('%s %s: %d %s', async (call, _, status, reason, fault) =>
    expectRow(await promoteBroken(call, fault, LARGE_BYTES), status, reason),
  )

  /** For who waits for what never answers: so long until the deadline, then time enough for the undo. */
  const untilDeadline = (workingMs: number) => {
    let isAsked = false
    return () => {
      const remainingMs = isAsked ? 28_000 : workingMs + 2500
      isAsked = true
      return remainingMs
    }
  }

  // Sooner than the clients would give up by themselves.
  it.each(['HeadObject', 'ledger.take', 'CopyObject', 'reservations.open', 'documents.record'])(
    '%s never answers: 503 promotion_timed_out, with everything undone',
    async (call) => {
      const broken = await promoteBroken(call, HANGS, Buffer.from('small'), untilDeadline(2000))
      expectRow(broken, 503, 'promotion_timed_out')
    },
  )

  it('keys.find never answers: 503 by the deadline', async () => {
    const { response } = await promoteBroken('keys.find', HANGS, Buffer.from('small'), untilDeadline(2000))
    expect(response).toMatchObject({ status: 503, body: { error: { metadata: { reason: 'promotion_timed_out' } } } })
  })

  it('UploadPartCopy never answers: 503 by the deadline, the upload aborted', async () => {
    expectRow(
      await promoteBroken('UploadPartCopy', HANGS, LARGE_BYTES, untilDeadline(3000)),
      503,
      'promotion_timed_out',
    )
  })

  it.each(['throttled', 'refused', 'denied', 'hanging'])('the rate limit %s: the promotion goes on', async (how) => {
    const faults: Record<string, Fault> = {
      throttled: dynamoDbError(400, 'ProvisionedThroughputExceededException'),
      refused: REFUSED,
      denied: dynamoDbError(400, 'AccessDeniedException'),
      hanging: HANGS,
    }
    const { response } = await promoteBroken('rateLimit.take', faults[how] as Fault, Buffer.from('small'))
    expect(response.status).toBe(200)
  })

  const kept = (usedBytes: number): WorkspaceState => ({ ...NOTHING, documents: 1, objects: 1, usedBytes })

  /** Loses the answer of the first call of this name. */
  const promoteWithLostAnswer = (call: string, bytes: Buffer) =>
    inProcess(async (service) => {
      // The rate limit's calls depend on the time between them.
      service.stopClock(Date.now())
      const workspace = await service.newWorkspace(10 ** 9)
      await service.putFile(workspace, 'a.txt', bytes)
      let isLost = false
      service.breakCalls(({ name }) => {
        if (name !== call || isLost) return undefined
        isLost = true
        return LOST
      })
      const { status } = await service.promote(workspace, 'a.txt')
      expect(isLost).toBe(true)
      const sent = service.takeCallNames().filter((name) => name === call).length
      return { status, sent, state: await service.stateOf(workspace) }
    })

  it.each([
    ['keys.find', 2],
    // Counted by the first, and once more: the key loses one request for an instant.
    ['rateLimit.take', 3],
    ['HeadObject', 2],
    ['ledger.unmark', 2],
    ['reservations.remove', 2],
  ])('%s once applied with its answer lost: it is sent again, and counts once', async (call, times) => {
    const { status, sent, state } = await promoteWithLostAnswer(call, Buffer.from('small'))
    expect({ status, sent }).toEqual({ status: 200, sent: times })
    expect(state).toEqual(kept(5))
  })

  it.each(['ledger.take', 'reservations.open'])(
    '%s once applied with its answer lost: what opens is sent once, and undone',
    async (call) => {
      const { status, sent, state } = await promoteWithLostAnswer(call, Buffer.from('small'))
      expect({ status, sent }).toEqual({ status: 503, sent: 1 })
      expect(state).toEqual(NOTHING)
    },
  )

  it.each(['documents.record', 'CopyObject'])(
    '%s once applied with its answer lost: sent once, found to be there, and counted once',
    async (call) => {
      const { status, sent, state } = await promoteWithLostAnswer(call, Buffer.from('small'))
      expect({ status, sent }).toEqual({ status: 200, sent: 1 })
      expect(state).toEqual(kept(5))
    },
  )

  it('CreateMultipartUpload once applied with its answer lost: sent once, and even that upload is aborted', async () => {
    const { status, sent, state } = await promoteWithLostAnswer('CreateMultipartUpload', LARGE_BYTES)
    expect({ status, sent }).toEqual({ status: 503, sent: 1 })
    expect(state).toEqual(NOTHING)
  })

  it.each(['UploadPartCopy', 'CompleteMultipartUpload'])(
    '%s once applied with its answer lost: the document is whole',
    async (call) => {
      const { status, state } = await promoteWithLostAnswer(call, LARGE_BYTES)
      expect(status).toBe(200)
      expect(state).toEqual(kept(LARGE_BYTES.length))
    },
  )

  it('CreateMultipartUpload applied with its answer lost: 503, and the upload that nobody named is aborted', async () => {
    expectRow(await promoteBroken('CreateMultipartUpload', LOST, LARGE_BYTES), 503, 'service_unavailable')
  })

  it('documents.record applied, every answer lost: 200, for the document is there', async () => {
    const { response, state } = await promoteBroken('documents.record', LOST, Buffer.from('small'))
    expect(response.status).toBe(200)
    expect(state).toEqual(kept(5))
  })

  it.each([
    ['reservations.remove', 1],
    ['ledger.unmark', 2],
  ])('%s never answers: 200, what is left to the resolver', async (call, left) => {
    const { response, state } = await promoteBroken(call, REFUSED, Buffer.from('small'))
    expect(response.status).toBe(200)
    expect(state).toEqual({ ...kept(5), reservations: left })
  })

  it.each([
    ['slow', s3Error(503, 'SlowDown'), 503, 'service_unavailable'],
    ['refused', REFUSED, 503, 'service_unavailable'],
    ['denied', s3Error(403, 'AccessDenied'), 500, 'internal_error'],
  ] as const)(
    'ListObjectsV2 %s, asked whether a container exists: not taken for a missing one',
    (_, fault, status, reason) =>
      inProcess(async (service) => {
        const workspace = await service.newWorkspace()
        service.breakCalls(({ name }) => (name === 'ListObjectsV2' ? fault : undefined))
        const response = await service.promote(workspace, 'missing.txt')
        expect(response).toMatchObject({ status, body: { error: { metadata: { reason } } } })
      }),
  )

  it.each(dynamoDbRows('ledger.createWorkspace'))('%s %s: %d %s', async (call, _, status, reason, fault) => {
    expectRow(await promoteBroken(call, fault, Buffer.from('small')), status, reason)
  })

  it.each([
    ['documents.fence', { objects: 1, reservations: 1 }],
    ['ListMultipartUploads', { objects: 1, reservations: 1 }],
    ['DeleteObject', { objects: 1, reservations: 1 }],
    ['ledger.mark', { objects: 0, reservations: 1 }],
    ['reservations.close', { objects: 0, reservations: 2 }],
    ['ledger.release', { objects: 0, reservations: 2 }],
  ])(
    '%s of the undo refused: the first failure is told, and the bytes stay counted until the resolver comes',
    (undoCall, left) =>
      inProcess(async (service) => {
        const workspace = await service.newWorkspace()
        await service.putFile(workspace, 'a.txt', Buffer.from('small'))
        service.breakCalls(({ name }) => {
          if (name === 'documents.record') return dynamoDbError(400, 'AccessDeniedException')
          return name === undoCall ? REFUSED : undefined
        })
        const response = await service.promote(workspace, 'a.txt')
        expect(response).toMatchObject({ status: 500, body: { error: { metadata: { reason: 'internal_error' } } } })
        expect(await service.stateOf(workspace)).toEqual({ ...NOTHING, usedBytes: 5, ...left })
      }),
  )

  it('documents.fence and the answer of documents.record lost: 503, and the document is there, counted', () =>
    inProcess(async (service) => {
      const workspace = await service.newWorkspace()
      await service.putFile(workspace, 'a.txt', Buffer.from('small'))
      service.breakCalls(({ name }) => {
        if (name === 'documents.record') return LOST
        return name === 'documents.fence' ? REFUSED : undefined
      })
      expect((await service.promote(workspace, 'a.txt')).status).toBe(503)
      expect(await service.stateOf(workspace)).toEqual({ ...kept(5), reservations: 1 })
    }))

  it('a copy that S3 finishes after we gave up on it is watched for, and its bytes are not counted', () =>
    inProcess(async (service) => {
      const workspace = await service.newWorkspace()
      await service.putFile(workspace, 'a.txt', Buffer.from('small'))
      service.breakCalls(({ name }) => (name === 'CopyObject' ? { kind: 'late' } : undefined))
      expect((await service.promote(workspace, 'a.txt', { remainingMs: untilDeadline(2000) })).status).toBe(503)
      expect(await service.stateOf(workspace)).toEqual(NOTHING)
      await service.deliverLate()
      expect(await service.stateOf(workspace)).toEqual({ ...NOTHING, objects: 1 })
      expect(await service.watchedObjects(workspace)).toHaveLength(1)
    }))

  it('a record that arrives after we gave up on it is refused: it was fenced', () =>
    inProcess(async (service) => {
      const workspace = await service.newWorkspace()
      await service.putFile(workspace, 'a.txt', Buffer.from('small'))
      service.breakCalls(({ name }) => (name === 'documents.record' ? { kind: 'late' } : undefined))
      expect((await service.promote(workspace, 'a.txt', { remainingMs: untilDeadline(2000) })).status).toBe(503)
      await service.deliverLate()
      expect(await service.stateOf(workspace)).toEqual(NOTHING)
    }))

  it('gives up on a store that never answers long before the deadline, after three tries', {
    timeout: 120_000,
  }, async () => {
    // An hour until the deadline: it is not what ends this.
    const broken = await promoteBroken('HeadObject', HANGS, Buffer.from('small'), () => 3_600_000)
    expectRow(broken, 503, 'service_unavailable')
  })

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
        expect.objectContaining({ 'x-amz-mp-object-size': String(LARGE_BYTES.length) }),
      ])
      const reads = calls.filter(({ name }) => name === 'keys.find').map(({ body }) => JSON.parse(body).ConsistentRead)
      expect(reads).toEqual([true, true])
    }))
})

/** Two parts with the local stage's smallest part of 5 MiB. */
const LARGE_BYTES = patternBytes(11 * 1024 * 1024 + 1)
