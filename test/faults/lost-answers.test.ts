import { describe, expect, it } from 'vitest'
import { dynamoDbError, LOST, REFUSED } from '../support/faults/aws-failures.ts'
import {
  expectRow,
  healedState,
  kept,
  LARGE_BYTES,
  NOTHING,
  usePromotionsThatFail,
} from '../support/faults/promotions-that-fail.ts'
import { deadlineIn } from '../support/http/rest-event.ts'

describe.concurrent('a call that takes effect, and whose answer is lost or comes late', () => {
  const { inProcess, promoteBroken } = usePromotionsThatFail()

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
      const state = await service.stateOf(workspace)
      return { status, sent, state, healed: state.reservations > 0 ? await healedState(service, workspace) : state }
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

  it('ledger.take once applied with its answer lost: what opens is sent once, and undone', async () => {
    const { status, sent, state } = await promoteWithLostAnswer('ledger.take', Buffer.from('small'))
    expect({ status, sent }).toEqual({ status: 503, sent: 1 })
    expect(state).toEqual(NOTHING)
  })

  it('reservations.open once applied with its answer lost: sent once, and the resolver undoes it', async () => {
    const { status, sent, state, healed } = await promoteWithLostAnswer('reservations.open', Buffer.from('small'))
    expect({ status, sent }).toEqual({ status: 503, sent: 1 })
    // The reservation, and the marker of its bytes.
    expect(state).toEqual({ ...NOTHING, objects: 1, usedBytes: 5, reservations: 2 })
    expect(healed).toEqual(NOTHING)
  })

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
      expect((await service.promote(workspace, 'a.txt', { remainingMs: deadlineIn(2000) })).status).toBe(503)
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
      expect((await service.promote(workspace, 'a.txt', { remainingMs: deadlineIn(2000) })).status).toBe(503)
      await service.deliverLate()
      expect(await service.stateOf(workspace)).toEqual(NOTHING)
    }))
})
