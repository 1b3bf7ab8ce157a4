import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { type DocumentId, formatFileId } from '../../../lib/ids.ts'
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

async function objectKeyOf({ process, workspace: { workspaceId }, documentId }: Prepared): Promise<string> {
  const ids = { workspaceId, documentId: documentId as DocumentId }
  return (await process.deps.documents.find(ids, AbortSignal.timeout(60_000)))?.objectKey ?? ''
}

describe('what else these operations find in the bucket', () => {
  it('a document whose object is lost is our 404', () =>
    prepared(async (ready) => {
      await ready.process.deps.objects.discard(await objectKeyOf(ready), AbortSignal.timeout(60_000))
      expect(await call(ready, 'download_document')).toMatchObject({
        status: 404,
        body: { error: { metadata: { reason: 'file_not_downloadable' } } },
      })
    }))

  it('an upload that was left of its object goes with a document', () =>
    prepared(async (ready) => {
      const { process, workspace } = ready
      const Key = await objectKeyOf(ready)
      await process.s3.send(new CreateMultipartUploadCommand({ Bucket: process.config.documentsBucket, Key }))
      expect(await process.stateOf(workspace)).toMatchObject({ unfinishedUploads: 1 })
      expect((await call(ready, 'delete_document')).status).toBe(200)
      const nothing = { documents: 0, objects: 0, unfinishedUploads: 0, usedBytes: 0, unfinished: 0, strays: 0 }
      expect(await process.stateOf(workspace)).toEqual(nothing)
    }))
})
