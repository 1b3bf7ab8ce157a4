import { setTimeout as sleep } from 'node:timers/promises'
import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3'
import { describe, expect, it, vi } from 'vitest'
import { type DocumentId, formatFileId } from '../../lib/ids.ts'
import { faultsFor } from '../support/faults/fault-kinds.ts'
import type { TestProcess } from '../support/faults/test-process.ts'
import { useTestProcesses } from '../support/faults/use-test-processes.ts'
import type { TestWorkspace } from '../support/faults/workspaces.ts'
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../support/operations.ts'

vi.setConfig({ testTimeout: 120_000 })

const BYTES = Buffer.from('a file')
/** For what only the deadline ends. */
const SHORT_MS = 5500
const HOUR_MS = 3_600_000
/** Of the DynamoDB that this runs on; see stand-ins.ts. */
const INDEX_DELAY_MS = Number(process.env.LIMITED_DYNAMODB ?? 0)

/** What each operation asks of AWS after its key and its rate limit: each call, once. */
const CALLS: Record<OperationName, string[]> = {
  list_documents: ['documents.list', 'ledger.read'],
  retrieve_document: ['documents.find'],
  download_document: ['HeadObject', 'documents.find'],
  delete_document: [
    'DeleteObject',
    'ListMultipartUploads',
    'documents.find',
    'documents.finish',
    'documents.retire',
    'ledger.mark',
    'ledger.release',
    'ledger.unmark',
    'reservations.find',
  ],
  list_container_files: ['ListObjectsV2'],
  retrieve_container_file: ['HeadObject'],
  download_container_file: ['HeadObject'],
}
const processes = useTestProcesses({ atOnce: 8 })

/** A process, and a workspace with one document in it. */
interface Prepared {
  process: TestProcess
  workspace: TestWorkspace
  documentId: string
}

function prepared(test: (prepared: Prepared) => Promise<void>): Promise<void> {
  return processes.one(async (process) => {
    process.restart()
    process.setClock(0)
    const workspace = await process.newWorkspace()
    await process.putFile(workspace, 'a.txt', BYTES)
    const documentId = await promoted(process, workspace)
    process.takeCalls()
    await test({ process, workspace, documentId })
  })
}

async function promoted(process: TestProcess, workspace: TestWorkspace): Promise<string> {
  const { status, body } = await process.promote(workspace, 'a.txt')
  expect(status).toBe(200)
  return (body as { id: string }).id
}

const call = ({ process, workspace, documentId }: Prepared, name: OperationName, remainingMs?: number) =>
  process.call(name, workspace, {
    parameters: { document_id: documentId, container_id: 'sess_1', file_id: formatFileId('a.txt') },
    remainingMs,
  })

describe.concurrent.each(OPERATION_NAMES)('%s', (name) => {
  const { success } = OPERATIONS[name]

  it('makes these calls, and no other', () =>
    prepared(async (ready) => {
      const { status } = await call(ready, name)
      expect(status).toBe(success)
      const calls = ready.process.takeCallNames().filter((each) => each !== 'keys.find' && each !== 'rateLimit.take')
      expect(calls.toSorted()).toEqual(CALLS[name].toSorted())
    }))

  const faults = CALLS[name].flatMap((broken) =>
    faultsFor(broken)
      .filter(([kind]) => kind !== '200 and white space')
      .map(([kind, fault]) => ({ broken, kind, fault })),
  )

  it.each(faults)('bears $broken: $kind', ({ broken, fault }) =>
    prepared(async (ready) => {
      const { process, workspace } = ready
      let [isMet, isSpent] = [false, false]
      process.breakCalls(({ name: each }) => {
        if (each !== broken || isSpent) return undefined
        isMet = true
        isSpent = fault.kind !== 'hang' && fault.kind !== 'answer'
        return fault
      })
      const hangs = fault.kind === 'hang' || fault.kind === 'late'
      const calling = call(ready, name, hangs ? SHORT_MS : undefined).catch((error) => {
        if (!process.isDead()) throw error
      })
      const answer = await Promise.race([calling, process.died()])
      const isDead = process.isDead()
      process.restart()
      expect(isMet).toBe(true)
      if (!isDead) expect([success, 404, 500, 503]).toContain(answer?.status)
      await process.deliverLate()
      if (name !== 'delete_document') {
        expect((await call(ready, name)).status).toBe(success)
        expect(await process.stateOf(workspace)).toMatchObject({ documents: 1, objects: 1, usedBytes: BYTES.length })
        return
      }
      if (!isDead && answer?.status === 200) {
        expect(await process.stateOf(workspace)).toMatchObject({ documents: 0, objects: 0 })
      }
      // Whoever got no answer asks again; what was left half done is finished within minutes.
      expect((await call(ready, name)).status).toBe(200)
      process.setClock(HOUR_MS)
      await process.resolveWorkspace(workspace.workspaceId)
      expect(await process.audit(workspace.workspaceId, false)).toEqual([])
      const nothing = { documents: 0, objects: 0, usedBytes: 0, reservations: 0 }
      expect(await process.stateOf(workspace)).toMatchObject(nothing)
    }),
  )
})

describe('delete_document', () => {
  const gone = { documents: 0, objects: 0, unfinishedUploads: 0, usedBytes: 0, reservations: 0 }

  it('deletes a document whose promotion could not settle, and gives its bytes back once', () =>
    prepared(async (ready) => {
      const { process, workspace } = ready
      process.breakCalls(({ name }) => (name === 'reservations.remove' ? { kind: 'refuse' } : undefined))
      const unsettled = await promoted(process, workspace)
      process.restart()
      expect(await process.stateOf(workspace)).toMatchObject({ documents: 2, reservations: 1 })
      for (const documentId of [ready.documentId, unsettled]) {
        expect((await call({ ...ready, documentId }, 'delete_document')).status).toBe(200)
      }
      expect(await process.stateOf(workspace)).toEqual(gone)
      expect(await process.audit(workspace.workspaceId, false)).toEqual([])
    }))

  it('removes what was left of uploads of its object', () =>
    prepared(async (ready) => {
      const { process, workspace } = ready
      const Key = await objectKeyOf(ready)
      await process.s3.send(new CreateMultipartUploadCommand({ Bucket: process.config.documentsBucket, Key }))
      expect(await process.stateOf(workspace)).toMatchObject({ unfinishedUploads: 1 })
      expect((await call(ready, 'delete_document')).status).toBe(200)
      expect(await process.stateOf(workspace)).toEqual(gone)
    }))
})

async function objectKeyOf({ process, workspace, documentId }: Prepared): Promise<string> {
  const signal = AbortSignal.timeout(60_000)
  const document = await process.deps.documents.find(workspace.workspaceId, documentId as DocumentId, signal)
  return document?.objectKey ?? ''
}

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

describe('200 parallel deletions of the same 20 documents', () => {
  // Minutes on a machine that does something else, too: 200 of them wait for one stand-in.
  it(
    'give the bytes back once, every one is answered 200, and lists beside show none that is gone',
    {
      timeout: 300_000,
    },
    () =>
      prepared(async (ready) => {
        const { process, workspace } = ready
        const ids = [ready.documentId]
        for (let i = 1; i < 20; i++) ids.push(await promoted(process, workspace))
        expect(await process.stateOf(workspace)).toMatchObject({ documents: 20, usedBytes: 20 * BYTES.length })
        // Counted by a key of their own each: the rate limit is not what this is about.
        const deletions = ids.flatMap((id) => Array<string>(10).fill(id))
        const deletedAtMs = new Map<string, number>()
        const remove = async (id: string) => {
          const outcome = await process.delete(workspace.workspaceId, id as DocumentId, 240_000)
          if (outcome) deletedAtMs.set(id, Date.now())
          return outcome
        }
        const deleting = Promise.all(deletions.map(remove))
        let lists = 0
        let isOver = false
        const listing = async () => {
          while (!isOver || lists === 0) {
            // Slower than the key's rate limit.
            await sleep(150)
            const startedAtMs = Date.now()
            const { status, body } = await process.call('list_documents', workspace, {})
            // The stand-in may be too busy for it.
            expect([200, 503]).toContain(status)
            if (status !== 200) continue
            const gone = [...deletedAtMs].filter(([, atMs]) => atMs <= startedAtMs - INDEX_DELAY_MS).map(([id]) => id)
            const listed = (body as { data: { id: string }[] }).data.map(({ id }) => id)
            expect(listed.filter((id) => gone.includes(id))).toEqual([])
            lists++
          }
        }
        const ended = deleting.finally(() => {
          isOver = true
        })
        const [outcomes] = await Promise.all([ended, listing()])
        expect(outcomes.filter((outcome) => outcome !== undefined)).toHaveLength(20)
        expect(await process.stateOf(workspace)).toMatchObject({
          documents: 0,
          objects: 0,
          usedBytes: 0,
          reservations: 0,
        })
        for (const documentId of ids) {
          expect((await call({ ...ready, documentId }, 'delete_document')).status).toBe(200)
        }
        expect(await process.audit(workspace.workspaceId, false)).toEqual([])
      }),
  )
})
