import { expect } from 'vitest'
import { newAttemptId } from '../../../lib/ids.ts'
import type { OperationName } from '../api/operations.ts'
import { deadlineIn } from '../api/rest-event.ts'
import { patternBytes } from '../stores/pattern-bytes.ts'
import { dynamoDbError } from './aws-failures.ts'
import type { RunLimits, Scenario } from './scenario.ts'
import type { TestProcess } from './test-process.ts'
import type { TestWorkspace } from './workspaces.ts'

const SMALL = Buffer.from('small')
/** Two parts with the local stage's smallest part of 5 MiB. */
const LARGE = patternBytes(10 * 1024 * 1024 + 1)
const TOO_MUCH = Buffer.from('more than fits')
const KEY = 'key-of-the-caller'
const HOURS_MS = 2 * 3_600_000
/** Longer than a lease, but soon enough for the resolver to go on with a deletion. */
const MINUTES_MS = 5 * 60_000

/** What a promotion does before it begins: broken in the first scenario. */
const LOOKUPS = /^(keys\.find|rateLimit\.take|HeadObject|ledger\.read)$/

const withFile = async (process: TestProcess, bytes: Buffer, quotaBytes = 10 ** 9): Promise<TestWorkspace> => {
  const workspace = await process.newWorkspace(quotaBytes)
  await process.putFile(workspace, 'a.txt', bytes)
  return workspace
}
const promote = (
  process: TestProcess,
  workspace: TestWorkspace,
  limits?: RunLimits,
  idempotencyKey?: string,
  headers?: Record<string, string>,
) =>
  process.promote(workspace, 'a.txt', {
    headers,
    ...(limits && { remainingMs: deadlineIn(limits.leftMs, limits.undoMs) }),
    ...(idempotencyKey && { idempotencyKey }),
  })

/** Work whose process is killed right after this call. @param denied a call that AWS denies it before */
const killAfter = async (
  process: TestProcess,
  call: string,
  work: () => Promise<unknown>,
  denied?: string,
): Promise<void> => {
  process.restart()
  process.breakCalls(({ name }) =>
    name === call ? { kind: 'kill_after' } : name === denied ? dynamoDbError(400, 'AccessDeniedException') : undefined,
  )
  await Promise.race([work().catch(() => undefined), process.died()])
  if (!process.mayBeReplaced()) throw new Error(`there was no ${call}`)
  process.restart({ onTheWire: false })
}

const withDocument = async (process: TestProcess, idempotencyKey?: string, headers?: Record<string, string>) => {
  const workspace = await withFile(process, SMALL)
  await promote(process, workspace, undefined, idempotencyKey, headers)
  return workspace
}

/** The id of the first document, or of what a deletion has left of it. */
const documentIdOf = async (process: TestProcess, { workspaceId }: TestWorkspace) => {
  for await (const { documentId } of process.deps.documents.list(workspaceId, AbortSignal.timeout(60_000)))
    return documentId
  throw new Error('the workspace has no document')
}

/** A promotion that died after this call, this long ago. @param denied what it was to undo */
const deadPromotion =
  (call: string, agoMs: number, idempotencyKey?: string, denied?: string) => async (process: TestProcess) => {
    const workspace = await withFile(process, call === 'UploadPartCopy' ? LARGE : SMALL)
    await killAfter(process, call, () => promote(process, workspace, undefined, idempotencyKey), denied)
    process.setClock(agoMs)
    return workspace
  }

const deadDeletion = (call: string) => async (process: TestProcess) => {
  const workspace = await withDocument(process)
  const documentId = await documentIdOf(process, workspace)
  await killAfter(process, call, () => process.delete(workspace.workspaceId, documentId))
  process.setClock(MINUTES_MS)
  return workspace
}

const promoting = (
  name: string,
  prepare: Scenario['prepare'],
  { key, documentsBefore = 0, ...more }: Partial<Scenario> & { key?: string } = {},
): Scenario => ({
  name,
  prepare,
  run: (process, workspace, limits) => promote(process, workspace, limits, key),
  documentsBefore,
  brokenElsewhere: LOOKUPS,
  ...more,
})

const promoteMany = (process: TestProcess, workspace: TestWorkspace, limits?: RunLimits) =>
  process.call('promote_container_files', workspace, {
    parameters: { container_id: 'sess_1' },
    body: { prefix: '' },
    ...(limits && { remainingMs: deadlineIn(limits.leftMs, limits.undoMs) }),
  })

/** All files of a container that has one, answered as if it had been asked for alone. */
const promotingMany = (what: string, prepare: Scenario['prepare']): Scenario => ({
  ...promoting(`by its prefix, ${what}`, prepare, { documentsBefore: what === 'new' ? 0 : 1 }),
  async run(process, workspace, limits) {
    const answer = await promoteMany(process, workspace, limits)
    const { data: [file] = [] } = answer.body as { data?: { document?: object; error?: { code: number } }[] }
    if (!file) return answer
    return { ...answer, status: file.error?.code ?? answer.status, body: file.document ?? file }
  },
  brokenElsewhere: /^(keys\.find|rateLimit\.take)$/,
})

const resolving = (name: string, prepare: Scenario['prepare'], documentsBefore: number): Scenario => ({
  name: `the resolver after ${name}`,
  prepare,
  async run(process, { workspaceId }, { boundMs }) {
    await process.resolveWorkspace(workspaceId, boundMs)
    return undefined
  },
  documentsBefore,
  // Sixteen of them, one for each shard: broken in the expiry of a document, which lists one shard.
  brokenElsewhere: /^documents\.listDue$/,
})

const deleting = (what: string, prepare: Scenario['prepare']): Scenario => ({
  name: `deleting ${what}`,
  prepare,
  async run(process, workspace, { boundMs }) {
    await process.delete(workspace.workspaceId, await documentIdOf(process, workspace), boundMs)
    return undefined
  },
  documentsBefore: 1,
})

export const SCENARIOS: Scenario[] = [
  promoting('a small file', (process) => withFile(process, SMALL), { brokenElsewhere: undefined }),
  promoting('a file in parts', (process) => withFile(process, LARGE)),
  promoting('the first promotion of a workspace', async (process) => {
    const workspace = await process.newWorkspace()
    await process.putFile(workspace, 'a.txt', SMALL)
    return workspace
  }),
  promoting('with an Idempotency-Key', (process) => withFile(process, SMALL), { key: KEY }),
  ...[undefined, KEY].map((key) =>
    promoting(
      `a copy whose SHA-256 differs${key ? ', with an Idempotency-Key' : ''}`,
      (process) => withFile(process, SMALL),
      {
        run: (process, workspace, limits) =>
          promote(process, workspace, limits, key, { 'file-sha256': '0'.repeat(64) }),
        status: 400,
        // Its undo is broken, too: what that cannot discard, the resolver does.
        strayObjects: 1,
      },
    ),
  ),
  promoting('a replay', (process) => withDocument(process, KEY), { key: KEY, documentsBefore: 1 }),
  promoting('a replay that keeps for longer', (process) => withDocument(process, KEY, { 'file-expires-in': '3600' }), {
    key: KEY,
    documentsBefore: 1,
    expires: 'later',
  }),
  promoting(
    'what has expired',
    async (process) => {
      const workspace = await withDocument(process, KEY, { 'file-expires-in': '3600' })
      process.setClock(HOURS_MS)
      return workspace
    },
    { key: KEY, documentsBefore: 1, expires: 'before' },
  ),
  promotingMany('new', (process) => withFile(process, SMALL)),
  promotingMany('already promoted', async (process) => {
    const workspace = await withFile(process, SMALL)
    await promoteMany(process, workspace)
    return workspace
  }),
  promoting(
    'refused for the quota',
    async (process) => {
      const workspace = await withFile(process, SMALL, TOO_MUCH.length)
      await promote(process, workspace)
      await process.putFile(workspace, 'a.txt', TOO_MUCH)
      return workspace
    },
    { status: 403, documentsBefore: 1, brokenElsewhere: /^(keys\.find|rateLimit\.take|HeadObject)$/ },
  ),
  promoting('after one that left its marker', deadPromotion('documents.record', HOURS_MS), { documentsBefore: 1 }),
  ...['documents.begin', 'CopyObject', 'ledger.take'].map((call) =>
    promoting(`in place of a twin that died after ${call}`, deadPromotion(call, MINUTES_MS, KEY), {
      key: KEY,
      strayObjects: 1,
    }),
  ),
  ...['documents.begin', 'UploadPartCopy', 'CopyObject', 'ledger.take'].map((call) => resolving(call, deadPromotion(call, HOURS_MS), 0)),
  ...['documents.putStray', 'documents.fence'].map((call) =>
    resolving(`${call} of an undo`, deadPromotion(call, HOURS_MS, KEY, 'documents.record'), 0),
  ),
  ...['documents.delete', 'ledger.mark', 'documents.handOver', 'ledger.giveBack'].map((call) =>
    resolving(`${call} of a deletion`, deadDeletion(call), 0),
  ),
  deleting('a document', (process) => withDocument(process)),
  deleting('what another deletion has begun to delete', deadDeletion('documents.handOver')),
  {
    name: 'a deletion through the API, beside a list and a download',
    prepare: (process) => withDocument(process),
    async run(process, workspace, { leftMs, undoMs }) {
      const parameters = { document_id: await documentIdOf(process, workspace) }
      const call = (name: OperationName) =>
        process.call(name, workspace, {
          ...(name !== 'list_documents' && { parameters }),
          remainingMs: deadlineIn(leftMs, undoMs),
        })
      const answers = await Promise.all([call('delete_document'), call('list_documents'), call('download_document')])
      if (!process.mayBeReplaced()) {
        const statuses = answers.map(({ status }) => status)
        expect([200, 500, 503]).toContain(statuses[0])
        expect([200, 500, 503]).toContain(statuses[1])
        expect([302, 404, 500, 503]).toContain(statuses[2])
      }
      // The document may be gone or not, whatever was answered.
      return undefined
    },
    documentsBefore: 1,
    // file-operations.test.ts breaks the calls of the list and the download.
    brokenElsewhere: /^(keys\.find|rateLimit\.take|HeadObject|documents\.list|ledger\.read)$/,
  },
  {
    ...resolving('', (process) => withDocument(process, undefined, { 'file-expires-in': '3600' }), 1),
    name: 'the expiry of a document',
    brokenElsewhere: undefined,
    async run(process, { workspaceId }, { boundMs }) {
      process.setClock(HOURS_MS)
      await process.expire(workspaceId, boundMs)
      return undefined
    },
  },
  {
    name: 'the audit, repairing',
    async prepare(process) {
      const workspace = await withDocument(process)
      const { workspaceId } = workspace
      const lost = await documentIdOf(process, workspace)
      await promote(process, workspace)
      const signal = AbortSignal.timeout(60_000)
      const document = await process.deps.documents.find({ workspaceId, documentId: lost }, signal)
      await process.deps.objects.discard(document?.objectKey ?? '', signal)
      const source = await process.deps.objects.findContainerFile(`sandboxes/${workspaceId}/sess_1/a.txt`, signal)
      if (!source) throw new Error('the file is not there')
      const objectKey = `documents/${workspaceId}/file_1/${newAttemptId()}`
      await process.deps.objects.copy({ source, objectKey, mimeType: 'text/plain' }, signal)
      const { usedBytes = 0, version = 0 } = (await process.deps.ledger.read(workspaceId, signal)) ?? {}
      await process.deps.workspaces.correct(
        workspaceId,
        { usedBytes, expectedBytes: 77, at: { version, lastVersion: version } },
        signal,
      )
      process.setClock(HOURS_MS)
      return workspace
    },
    async run(process, { workspaceId }, { boundMs }) {
      await process.audit(workspaceId, true, boundMs)
      return undefined
    },
    documentsBefore: 2,
  },
]
