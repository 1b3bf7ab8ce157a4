import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hashToken } from '../../../lib/auth/api-token.ts'
import { entryOf } from '../../../lib/http/operations.ts'
import { type DocumentId, formatFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../../support/api/operations.ts'
import { deadlineIn } from '../../support/api/rest-event.ts'
import { withId } from '../../support/api/test-api.ts'
import { depth } from '../../support/depth.ts'
import { faultsFor } from '../../support/protocol/aws-failures.ts'
import { LARGE_BYTES, NOTHING } from '../../support/protocol/promotions-that-fail.ts'
import type { TestProcess } from '../../support/protocol/test-process.ts'
import type { StoresSnapshot } from '../../support/protocol/test-stores.ts'
import { useTestProcesses } from '../../support/protocol/use-test-processes.ts'
import type { TestWorkspace } from '../../support/protocol/workspaces.ts'

const BYTES = Buffer.from('a file')
/** A quarter in npm test, where each operation meets some of its faults. */
const isOfThisRun = (_: unknown, index: number) => depth() !== 'shallow' || index % 4 === 0
/** For what only the deadline ends. */
const SHORT_MS = 3000

/** A process, and a workspace with one document in it. */
interface Prepared {
  process: TestProcess
  workspace: TestWorkspace
  documentId: string
  /** A workspace without documents, with a key. */
  tenant: { workspace_id: string; name: string }
  platformToken: string
  /** To the document. */
  link: { linkId: string; token: string }
}

const processes = useTestProcesses({ atOnce: 16 })
/** Done by one process; each test begins with it. */
let preparing: Promise<{ ready: Omit<Prepared, 'process'>; stored: StoresSnapshot }> | undefined
const prepared = (test: (ready: Prepared) => Promise<void>, isOnTheWire = true) =>
  processes.one(async (process) => {
    preparing ??= prepare(process)
    const { ready, stored } = await preparing
    process.restore(stored)
    process.restart({ onTheWire: isOnTheWire })
    await test({ ...ready, process })
  })

async function prepare(process: TestProcess) {
  process.restart({ onTheWire: false })
  const workspace = await process.newWorkspace()
  await process.putFile(workspace, 'a.txt', BYTES)
  const { body } = await process.promote(workspace, 'a.txt')
  const tenant = { workspace_id: `ws_${randomUUID()}`, name: 'ci' }
  const platformToken = await process.newPlatformKey()
  const { id: documentId } = body as { id: string }
  const own = { workspace, documentId, tenant, platformToken }
  const ready = { ...own, link: await linkTo({ ...own, process }) }
  const saving = { ...ready, process }
  for (const name of ['save_workspace', 'save_key'] as const) expect((await call(saving, name)).status).toBe(200)
  const leaving = { ...saving, tenant: leavingOf(tenant) }
  for (const name of ['save_workspace', 'save_erasure'] as const) expect((await call(leaving, name)).status).toBe(200)
  return { ready, stored: process.snapshot() }
}

async function linkTo({ process, workspace, documentId }: Omit<Prepared, 'link'>): Promise<Prepared['link']> {
  const { body } = await process.call('create_link', workspace, { parameters: { document_id: documentId }, body: {} })
  const { id, url } = body as { id: string; url: string }
  return { linkId: id, token: url.split('/').at(-1) ?? '' }
}

/** A workspace beside it that is to be erased. */
const leavingOf = ({ workspace_id, ...key }: Prepared['tenant']) => ({
  workspace_id: `${workspace_id}-leaving`,
  ...key,
})

/** Not in the API's description. */
const OPEN_LINK = { success: 302, calls: ['links.find', 'documents.find', 'ledger.read', 'HeadObject'] }
type Name = OperationName | 'open_link'
const ALL: [Name, Pick<(typeof OPERATIONS)[OperationName], 'success' | 'calls'>][] = [
  ...OPERATION_NAMES.map((name): (typeof ALL)[number] => [name, OPERATIONS[name]]),
  ['open_link', OPEN_LINK],
]

const call = (ready: Prepared, name: Name, remainingMs?: () => number) => {
  const { process, workspace, documentId, platformToken } = ready
  if (name === 'open_link') return process.openLink(ready.link.token, remainingMs)
  const { body, needsErasure } = OPERATIONS[name]
  const tenant = needsErasure ? leavingOf(ready.tenant) : ready.tenant
  const own = entryOf(name).for === 'platform' && { token: platformToken }
  const { linkId: link_id } = ready.link
  return process.call(
    name,
    { ...workspace, ...own },
    {
      parameters: {
        link_id,
        document_id: documentId,
        container_id: 'sess_1',
        file_id: formatFileId('a.txt'),
        ...tenant,
      },
      body: name === 'promote_container_files' ? { paths: ['a.txt'] } : withId(body, documentId),
      remainingMs,
    },
  )
}

describe.concurrent.each(ALL)('%s', (name, { success, calls }) => {
  it('makes these calls, and no other', () =>
    prepared(async (ready) => {
      const { status } = await call(ready, name)
      expect(status).toBe(success)
      const made = ready.process.takeCallNames().filter((each) => each !== 'keys.find' && each !== 'rateLimit.take')
      expect(made.toSorted()).toEqual(calls.toSorted())
    }))

  // Those that change something are in the fault matrix.
  const isChange = name === 'delete_document' || name === 'promote_container_files'
  const faults = (isChange ? [] : calls).flatMap((broken) =>
    faultsFor(broken)
      .filter(([kind]) => kind !== '200 and white space')
      .map(([kind, fault]) => ({ broken, kind, fault })),
  )

  it.each(faults.filter(isOfThisRun))('bears $broken: $kind', ({ broken, kind, fault }) =>
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
      const calling = call(ready, name, isEndedByDeadline ? deadlineIn(SHORT_MS) : undefined).catch((error) => {
        if (!process.mayBeReplaced()) throw error
      })
      const answer = await Promise.race([calling, process.died()])
      const mayBeReplaced = process.mayBeReplaced()
      process.restart({ onTheWire: false })
      expect(isMet).toBe(true)
      if (!mayBeReplaced) expect([success, 404, 500, 503]).toContain(answer?.status)
      await process.deliverLate()
      const again = await call(ready, name)
      expect(again.status).toBeOneOf([success, ...(/^(delete|cancel)_/.test(name) ? [404] : [])])
      expect(await process.stateOf(workspace)).toMatchObject({ documents: 1, objects: 1, usedBytes: BYTES.length })
      await expectTenant(ready, name, again.body as { token?: string })
    }, false),
  )
})

/** Sent until it is answered, an operation has left what one that nothing happened to leaves. */
async function expectTenant({ process, tenant, workspace }: Prepared, name: Name, body: { token?: string }) {
  const { apiKeys, ledger } = process.deps.administration
  const workspaceId = tenant.workspace_id as WorkspaceId
  const keys = await Array.fromAsync(apiKeys.list({ workspaceId }, AbortSignal.timeout(60_000)))
  const isThere = (await ledger.read(workspaceId, AbortSignal.timeout(60_000))) !== undefined
  expect([isThere, keys.length]).toEqual([name !== 'delete_workspace', /^delete_(key|workspace)$/.test(name) ? 0 : 1])
  if (name !== 'save_key') return
  // The token of the answer that came is the only one.
  expect(keys[0]).toMatchObject({ tokenHash: hashToken(`${body.token}`), formerTokens: undefined })
  const own = { ...workspace, workspaceId, token: `${body.token}` }
  expect((await process.call('retrieve_key', own, {})).status).toBe(200)
}

async function objectKeyOf({ process, workspace: { workspaceId }, documentId }: Prepared): Promise<string> {
  const ids = { workspaceId, documentId: documentId as DocumentId }
  return (await process.deps.documents.find(ids, AbortSignal.timeout(60_000)))?.objectKey ?? ''
}

describe('what else these operations find in the bucket', () => {
  it('a document whose object is lost is our 404', () =>
    prepared(async (ready) => {
      await ready.process.deps.objects.discard({ objectKey: await objectKeyOf(ready) }, AbortSignal.timeout(60_000))
      const body = { error: { metadata: { reason: 'file_not_downloadable' } } }
      for (const name of ['download_document', 'create_container_file'] as const)
        expect(await call(ready, name)).toMatchObject({ status: 404, body })
      expect((await ready.process.openLink(ready.link.token)).status).toBe(404)
    }))

  it('a copy in parts that S3 refuses leaves nothing in the container', () =>
    prepared(async (ready) => {
      const { process, workspace } = ready
      await process.putFile(workspace, 'a.txt', LARGE_BYTES)
      const { body } = await process.promote(workspace, 'a.txt')
      ready.documentId = (body as { id: string }).id
      process.breakCalls(({ name }) =>
        name === 'CompleteMultipartUpload' ? { kind: 'answer', status: 403 } : undefined,
      )
      expect((await call(ready, 'create_container_file')).status).toBe(500)
      const Bucket = process.config.sandboxBucket
      const { Uploads = [] } = await process.s3.listMultipartUploads({ Bucket })
      expect(Uploads.filter(({ Key }) => Key?.includes(workspace.workspaceId))).toEqual([])
      process.restart()
      expect((await call(ready, 'create_container_file')).status).toBe(200)
    }))

  it('an upload that was left of its object goes with a document that was copied in parts', () =>
    prepared(async (ready) => {
      const { process, workspace } = ready
      expect((await call(ready, 'delete_document')).status).toBe(200)
      await process.putFile(workspace, 'a.txt', LARGE_BYTES)
      const { body } = await process.promote(workspace, 'a.txt')
      ready.documentId = (body as { id: string }).id
      const Key = await objectKeyOf(ready)
      await process.s3.createMultipartUpload({ Bucket: process.config.documentsBucket, Key })
      expect(await process.stateOf(workspace)).toMatchObject({ unfinishedUploads: 1 })
      expect((await call(ready, 'delete_document')).status).toBe(200)
      expect(await process.stateOf(workspace)).toEqual(NOTHING)
    }))
})
