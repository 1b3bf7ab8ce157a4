import { setTimeout as sleep } from 'node:timers/promises'
import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type DocumentId, formatFileId } from '../../lib/ids.ts'
import { faultsFor } from '../support/fault-kinds.ts'
import { type Lane, startLane } from '../support/lane.ts'
import { OPERATION_NAMES, type OperationName } from '../support/operations.ts'
import { type StandIns, startStandIns } from '../support/stand-ins.ts'
import { createWorld, type TestWorkspace } from '../support/world.ts'

vi.setConfig({ testTimeout: 120_000 })

const BYTES = Buffer.from('a file')
/** Enough for every step, and over before a call that hangs is. */
const REMAINING_MS = 4000
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
const SUCCESS: Record<OperationName, number> = {
  list_documents: 200,
  retrieve_document: 200,
  download_document: 302,
  delete_document: 200,
  list_container_files: 200,
  retrieve_container_file: 200,
  download_container_file: 302,
}

let standIns: StandIns
let lane: Lane
let world: ReturnType<typeof createWorld>
let workspace: TestWorkspace
let documentId: string
beforeAll(async () => {
  standIns = await startStandIns()
  lane = await startLane(standIns)
  world = createWorld(standIns)
})
afterAll(async () => {
  await lane.stop()
  await standIns.stop()
})
beforeEach(async () => {
  lane.revive()
  lane.setClock(0)
  workspace = await world.newWorkspace()
  await world.putFile(workspace, 'a.txt', BYTES)
  documentId = await promoted()
  lane.takeCalls()
})

async function promoted(): Promise<string> {
  const { status, body } = await lane.promote(workspace, 'a.txt', { remainingMs: 28_000 })
  expect(status).toBe(200)
  return (body as { id: string }).id
}

const call = (name: OperationName, remainingMs = REMAINING_MS) =>
  lane.call(name, workspace, {
    parameters: { document_id: documentId, container_id: 'sess_1', file_id: formatFileId('a.txt') },
    remainingMs,
  })

describe.each(OPERATION_NAMES)('%s', (name) => {
  it('makes these calls, and no other', async () => {
    const { status } = await call(name, 28_000)
    expect(status).toBe(SUCCESS[name])
    const calls = lane.takeCalls().filter((each) => each !== 'keys.find' && each !== 'rateLimit.take')
    expect(calls.toSorted()).toEqual(CALLS[name].toSorted())
  })

  const faults = CALLS[name].flatMap((broken) =>
    faultsFor(broken)
      .filter(([kind]) => kind !== '200 and white space')
      .map(([kind, fault]) => ({ broken, kind, fault })),
  )

  it.each(faults)('bears $broken: $kind', async ({ broken, fault }) => {
    let isSpent = false
    lane.beImpatient()
    lane.breakCalls(({ name: each }) => {
      if (each !== broken || isSpent) return undefined
      isSpent = fault.kind !== 'hang' && fault.kind !== 'answer'
      return fault
    })
    const { status } = await call(name)
    if (!lane.isDead()) expect([SUCCESS[name], 404, 500, 503]).toContain(status)
    const saidDone = !lane.isDead() && status === 200
    lane.revive()
    await lane.deliverLate()
    if (name !== 'delete_document') {
      expect((await call(name, 28_000)).status).toBe(SUCCESS[name])
      expect(await world.stateOf(workspace)).toMatchObject({ documents: 1, objects: 1, usedBytes: BYTES.length })
      return
    }
    if (saidDone) expect(await world.stateOf(workspace)).toMatchObject({ documents: 0, objects: 0 })
    // Whoever got no answer asks again; what was left half done is finished within minutes.
    expect((await call(name, 28_000)).status).toBe(200)
    lane.setClock(HOUR_MS)
    await lane.resolveWorkspace(workspace.workspaceId)
    expect(await lane.audit(workspace.workspaceId, false)).toEqual([])
    expect(await world.stateOf(workspace)).toMatchObject({ documents: 0, objects: 0, usedBytes: 0, reservations: 0 })
  })
})

describe('delete_document', () => {
  const gone = { documents: 0, objects: 0, unfinishedUploads: 0, usedBytes: 0, reservations: 0 }

  it('deletes a document whose promotion could not settle, and gives its bytes back once', async () => {
    lane.breakCalls(({ name }) => (name === 'reservations.remove' ? { kind: 'refuse' } : undefined))
    const unsettled = await promoted()
    lane.revive()
    expect(await world.stateOf(workspace)).toMatchObject({ documents: 2, reservations: 1 })
    for (const id of [documentId, unsettled]) {
      documentId = id
      expect((await call('delete_document', 28_000)).status).toBe(200)
    }
    expect(await world.stateOf(workspace)).toEqual(gone)
    expect(await lane.audit(workspace.workspaceId, false)).toEqual([])
  })

  it('removes what was left of uploads of its object', async () => {
    const { workspaceId } = workspace
    const signal = AbortSignal.timeout(5000)
    const document = await lane.deps.documents.find(workspaceId, documentId as DocumentId, signal)
    const Bucket = standIns.config.documentsBucket
    await standIns.s3.send(new CreateMultipartUploadCommand({ Bucket, Key: document?.objectKey ?? '' }))
    expect(await world.stateOf(workspace)).toMatchObject({ unfinishedUploads: 1 })
    expect((await call('delete_document', 28_000)).status).toBe(200)
    expect(await world.stateOf(workspace)).toEqual(gone)
  })
})

describe('download_document', () => {
  it('is our 404 when the object is lost', async () => {
    const signal = AbortSignal.timeout(5000)
    const document = await lane.deps.documents.find(workspace.workspaceId, documentId as DocumentId, signal)
    await lane.deps.objects.discard(document?.objectKey ?? '', signal)
    expect(await call('download_document', 28_000)).toMatchObject({
      status: 404,
      body: { error: { metadata: { reason: 'file_not_downloadable' } } },
    })
  })
})

describe('200 parallel deletions of the same 20 documents', () => {
  // Minutes on a machine that does something else, too: 200 of them wait for one stand-in.
  it('give the bytes back once, every one is answered 200, and lists beside show none that is gone', {
    timeout: 300_000,
  }, async () => {
    const ids = [documentId]
    for (let i = 1; i < 20; i++) ids.push(await promoted())
    expect(await world.stateOf(workspace)).toMatchObject({ documents: 20, usedBytes: 20 * BYTES.length })
    // Counted by a key of their own each: the rate limit is not what this is about.
    const deletions = ids.flatMap((id) => Array<string>(10).fill(id))
    const deletedAtMs = new Map<string, number>()
    const remove = async (id: string) => {
      const outcome = await lane.delete(workspace.workspaceId, id as DocumentId, 240_000)
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
        const { status, body } = await lane.call('list_documents', workspace, { remainingMs: 28_000 })
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
    expect(await world.stateOf(workspace)).toMatchObject({ documents: 0, objects: 0, usedBytes: 0, reservations: 0 })
    for (const id of ids) {
      documentId = id
      expect((await call('delete_document', 28_000)).status).toBe(200)
    }
    expect(await lane.audit(workspace.workspaceId, false)).toEqual([])
  })
})
