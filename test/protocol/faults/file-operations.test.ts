import { describe, expect, it } from 'vitest'
import { formatFileId } from '../../../lib/ids.ts'
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../../support/api/operations.ts'
import { faultsFor } from '../../support/protocol/fault-kinds.ts'
import type { TestProcess } from '../../support/protocol/test-process.ts'
import { useTestProcesses } from '../../support/protocol/use-test-processes.ts'
import type { TestWorkspace } from '../../support/protocol/workspaces.ts'

const BYTES = Buffer.from('a file')
/** For what only the deadline ends. */
const SHORT_MS = 8000

/** A process, and a workspace with one document in it. */
interface Prepared {
  process: TestProcess
  workspace: TestWorkspace
  documentId: string
}

const processes = useTestProcesses({ atOnce: 16 })
const prepared = (test: (ready: Prepared) => Promise<void>) =>
  processes.one(async (process) => {
    process.restart()
    process.setClock(0)
    const workspace = await process.newWorkspace()
    await process.putFile(workspace, 'a.txt', BYTES)
    const { body } = await process.promote(workspace, 'a.txt')
    process.takeCalls()
    await test({ process, workspace, documentId: (body as { id: string }).id })
  })

const call = ({ process, workspace, documentId }: Prepared, name: OperationName, remainingMs?: number) =>
  process.call(name, workspace, {
    parameters: { document_id: documentId, container_id: 'sess_1', file_id: formatFileId('a.txt') },
    ...(name === 'promote_container_files' && { body: { paths: ['a.txt'] } }),
    remainingMs,
  })

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
