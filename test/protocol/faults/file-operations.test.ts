import { describe, expect, it } from 'vitest'
import { OPERATION_NAMES, OPERATIONS } from '../../support/api/operations.ts'
import { faultsFor } from '../../support/protocol/fault-kinds.ts'
import { BYTES, call, objectKeyOf, usePreparedProcesses } from '../../support/protocol/prepared-documents.ts'

/** For what only the deadline ends. */
const SHORT_MS = 8000

const prepared = usePreparedProcesses(16)

describe.concurrent.each(OPERATION_NAMES)('%s', (name) => {
  const { success } = OPERATIONS[name]

  it('makes these calls, and no other', () =>
    prepared(async (ready) => {
      const { status } = await call(ready, name)
      expect(status).toBe(success)
      const calls = ready.process.takeCallNames().filter((each) => each !== 'keys.find' && each !== 'rateLimit.take')
      expect(calls.toSorted()).toEqual(OPERATIONS[name].calls.toSorted())
    }))

  // Those that change something are in the fault matrix.
  const isChange = name === 'delete_document' || name === 'promote_container_files'
  const faults = (isChange ? [] : OPERATIONS[name].calls).flatMap((broken) =>
    faultsFor(broken)
      .filter(([kind]) => kind !== '200 and white space')
      .map(([kind, fault]) => ({ broken, kind, fault })),
  )

  it.each(faults)('bears $broken: $kind', ({ broken, kind, fault }) =>
    prepared(async (ready) => {
      const { process, workspace } = ready
      let [isMet, isSpent] = [false, false]
      process.breakCalls(({ name: each }) => {
        if (each !== broken || isSpent) return undefined
        isMet = true
        isSpent = fault.kind !== 'hang' && fault.kind !== 'answer'
        return fault
      })
      const isEndedByDeadline = ['hangs', 'arrives late', 'throttled'].includes(kind)
      const calling = call(ready, name, isEndedByDeadline ? SHORT_MS : undefined).catch((error) => {
        if (!process.mayBeReplaced()) throw error
      })
      const answer = await Promise.race([calling, process.died()])
      const mayBeReplaced = process.mayBeReplaced()
      process.restart()
      expect(isMet).toBe(true)
      if (!mayBeReplaced) expect([success, 404, 500, 503]).toContain(answer?.status)
      await process.deliverLate()
      expect((await call(ready, name)).status).toBe(success)
      expect(await process.stateOf(workspace)).toMatchObject({ documents: 1, objects: 1, usedBytes: BYTES.length })
    }),
  )
})

describe('download_document', () => {
  it('is our 404 when the object is lost', () =>
    prepared(async (ready) => {
      await ready.process.deps.objects.discard(await objectKeyOf(ready), AbortSignal.timeout(60_000))
      expect(await call(ready, 'download_document')).toMatchObject({
        status: 404,
        body: { error: { metadata: { reason: 'file_not_downloadable' } } },
      })
    }))
})
