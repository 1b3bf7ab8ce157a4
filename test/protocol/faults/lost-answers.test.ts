import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { dynamoDbError, LOST, REFUSED } from '../../support/protocol/aws-failures.ts'
import type { Fault } from '../../support/protocol/fault-proxy.ts'
import {
  healedState,
  kept,
  LARGE_BYTES,
  NOTHING,
  usePromotionsThatFail,
} from '../../support/protocol/promotions-that-fail.ts'
import type { WorkspaceState } from '../../support/protocol/workspaces.ts'

const SMALL_BYTES = Buffer.from('small')
const SMALL_SHA256 = createHash('sha256').update(SMALL_BYTES).digest('hex')
const DENIED = dynamoDbError(400, 'AccessDeniedException')

// The fault matrix has that nothing is left behind; here stand the answer, how often a call is sent, and what is left.
describe('a call that takes effect, and whose answer is lost', () => {
  const { inProcess, promoteBroken } = usePromotionsThatFail()

  it.each<[call: string, status: number, sent: number, state: WorkspaceState, bytes?: Buffer]>([
    ['keys.find', 200, 2, kept(5)],
    // Counted by the first, and once more: the key loses one request for an instant.
    ['rateLimit.take', 200, 3, kept(5)],
    ['HeadObject', 200, 2, kept(5)],
    ['ledger.read', 200, 2, kept(5)],
    ['documents.begin', 503, 1, NOTHING],
    ['CopyObject', 200, 1, kept(5)],
    // The taking may arrive later.
    ['ledger.take', 503, 1, { ...NOTHING, strays: 1 }],
    ['documents.record', 200, 2, kept(5)],
    ['ledger.unmark', 200, 2, kept(5)],
    ['CreateMultipartUpload', 503, 1, { ...NOTHING, strays: 1 }, LARGE_BYTES],
    ['UploadPartCopy', 200, 3, kept(LARGE_BYTES.length), LARGE_BYTES],
    ['CompleteMultipartUpload', 200, 1, kept(LARGE_BYTES.length), LARGE_BYTES],
  ])('%s, its first answer lost: %i, after %i calls', (call, status, sent, state, bytes = SMALL_BYTES) =>
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
      const answer = await service.promote(workspace, 'a.txt')
      const times = service.takeCallNames().filter((name) => name === call).length
      const left = await service.stateOf(workspace)
      expect({ isLost, status: answer.status, times, left }).toEqual({ isLost: true, status, times: sent, left: state })
      const sha256 = status === 200 && bytes === SMALL_BYTES ? SMALL_SHA256 : undefined
      expect(answer.headers['file-sha256']).toBe(sha256)
      if (left.strays > 0) expect(await healedState(service, workspace)).toEqual(NOTHING)
    }),
  )

  it.each<[call: string, fault: Fault, unfinished: number]>([
    ['documents.record', LOST, 0],
    // The marker stays.
    ['ledger.unmark', REFUSED, 1],
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
    ['ledger.giveBack', DENIED, 500, { unfinished: 1, strays: 1 }],
    ['documents.removeStray', DENIED, 500, { usedBytes: 0, strays: 1 }],
  ])(
    '%s of the undo refused: the first failure is told, and what is left leads to it',
    (undoCall, record, status, left) =>
      inProcess(async (service) => {
        const workspace = await service.newWorkspace()
        await service.putFile(workspace, 'a.txt', SMALL_BYTES)
        service.breakCalls(({ name }) =>
          name === 'documents.record' ? record : name === undoCall ? REFUSED : undefined,
        )
        expect((await service.promote(workspace, 'a.txt')).status).toBe(status)
        expect(await service.stateOf(workspace)).toEqual({ ...NOTHING, usedBytes: 5, ...left })
      }),
  )
})
