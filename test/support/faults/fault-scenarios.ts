import { expect } from 'vitest'
import { newAttemptId } from '../../../lib/ids.ts'
import type { OperationName } from '../http/operations.ts'
import { deadlineIn } from '../http/rest-event.ts'
import { patternBytes } from '../stores/pattern-bytes.ts'
import type { RunLimits, Scenario } from './scenario.ts'
import type { TestProcess } from './test-process.ts'
import type { TestWorkspace } from './workspaces.ts'

const SMALL = Buffer.from('small')
/** Two parts with the local stage's smallest part of 5 MiB. */
const LARGE = patternBytes(10 * 1024 * 1024 + 1)
const TOO_MUCH = Buffer.from('more than fits')
const KEY = 'key-of-the-caller'
const HOURS_MS = 2 * 3_600_000

const withFile = async (process: TestProcess, bytes: Buffer, quotaBytes = 10 ** 9): Promise<TestWorkspace> => {
  const workspace = await process.newWorkspace(quotaBytes)
  await process.putFile(workspace, 'a.txt', bytes)
  return workspace
}
const promote = (process: TestProcess, workspace: TestWorkspace, limits?: RunLimits, idempotencyKey?: string) =>
  process.promote(workspace, 'a.txt', {
    ...(limits && { remainingMs: deadlineIn(limits.workMs, limits.undoMs) }),
    ...(idempotencyKey && { idempotencyKey }),
  })

/** A promotion whose process is killed right after this call. */
const killAfter = async (process: TestProcess, workspace: TestWorkspace, call: string): Promise<void> => {
  process.restart()
  process.breakCalls(({ name }) => (name === call ? { kind: 'kill_after' } : undefined))
  await Promise.race([promote(process, workspace).catch(() => undefined), process.died()])
  if (!process.isDead()) throw new Error(`there was no ${call}`)
  process.restart({ onTheWire: false })
}

const documentIdOf = async (process: TestProcess, { workspaceId }: TestWorkspace) => {
  for await (const { documentId } of process.deps.documents.list(workspaceId, AbortSignal.timeout(60_000)))
    return documentId
  throw new Error('the workspace has no document')
}

export const SCENARIOS: Scenario[] = [
  {
    name: 'a small file',
    prepare: (process) => withFile(process, SMALL),
    run: (process, workspace, limits) => promote(process, workspace, limits),
    documentsBefore: 0,
  },
  {
    name: 'a file in parts',
    prepare: (process) => withFile(process, LARGE),
    run: (process, workspace, limits) => promote(process, workspace, limits),
    documentsBefore: 0,
  },
  {
    name: 'the first promotion of a workspace',
    async prepare(process) {
      const workspace = await process.newWorkspace()
      await process.putFile(workspace, 'a.txt', SMALL)
      return workspace
    },
    run: (process, workspace, limits) => promote(process, workspace, limits),
    documentsBefore: 0,
  },
  {
    name: 'with an Idempotency-Key',
    prepare: (process) => withFile(process, SMALL),
    run: (process, workspace, limits) => promote(process, workspace, limits, KEY),
    documentsBefore: 0,
  },
  {
    name: 'a replay',
    async prepare(process) {
      const workspace = await withFile(process, SMALL)
      await promote(process, workspace, undefined, KEY)
      return workspace
    },
    run: (process, workspace, limits) => promote(process, workspace, limits, KEY),
    documentsBefore: 1,
  },
  {
    name: 'refused for the quota',
    prepare: (process) => withFile(process, TOO_MUCH, TOO_MUCH.length - 1),
    run: (process, workspace, limits) => promote(process, workspace, limits),
    documentsBefore: 0,
  },
  {
    name: 'refused until a dead promotion is resolved',
    async prepare(process) {
      const workspace = await withFile(process, TOO_MUCH, TOO_MUCH.length)
      await killAfter(process, workspace, 'CopyObject')
      process.setClock(HOURS_MS)
      return workspace
    },
    run: (process, workspace, limits) => promote(process, workspace, limits),
    documentsBefore: 0,
    strayObjects: 1,
  },
  ...['ledger.take', 'reservations.open', 'CopyObject', 'documents.record'].map((call) => ({
    name: `the resolver after ${call}`,
    async prepare(process: TestProcess) {
      const workspace = await withFile(process, SMALL)
      await killAfter(process, workspace, call)
      process.setClock(HOURS_MS)
      return workspace
    },
    async run(process: TestProcess, { workspaceId }: TestWorkspace, { boundMs }: RunLimits) {
      await process.resolveWorkspace(workspaceId, boundMs)
      return undefined
    },
    documentsBefore: call === 'documents.record' ? 1 : 0,
  })),
  {
    name: 'deleting a document',
    async prepare(process) {
      const workspace = await withFile(process, SMALL)
      await promote(process, workspace)
      return workspace
    },
    async run(process, workspace, { boundMs }) {
      await process.delete(workspace.workspaceId, await documentIdOf(process, workspace), boundMs)
      return undefined
    },
    documentsBefore: 1,
  },
  {
    name: 'a deletion through the API, beside a list and a download',
    async prepare(process) {
      const workspace = await withFile(process, SMALL)
      await promote(process, workspace)
      return workspace
    },
    async run(process, workspace, { workMs, undoMs }) {
      const parameters = { document_id: await documentIdOf(process, workspace) }
      const call = (name: OperationName) =>
        process.call(name, workspace, {
          ...(name !== 'list_documents' && { parameters }),
          remainingMs: deadlineIn(workMs, undoMs),
        })
      const answers = await Promise.all([call('delete_document'), call('list_documents'), call('download_document')])
      if (!process.isDead()) {
        const statuses = answers.map(({ status }) => status)
        expect([200, 500, 503]).toContain(statuses[0])
        expect([200, 500, 503]).toContain(statuses[1])
        expect([302, 404, 500, 503]).toContain(statuses[2])
      }
      // The document may be gone or not, whatever was answered.
      return undefined
    },
    documentsBefore: 1,
  },
  {
    name: 'the audit, repairing',
    async prepare(process) {
      const workspace = await withFile(process, SMALL)
      const { workspaceId } = workspace
      await promote(process, workspace)
      const lost = await documentIdOf(process, workspace)
      await promote(process, workspace)
      const signal = AbortSignal.timeout(60_000)
      const document = await process.deps.documents.find(workspaceId, lost, signal)
      await process.deps.objects.discard(document?.objectKey ?? '', signal)
      const source = await process.deps.objects.findContainerFile(`sandboxes/${workspaceId}/sess_1/a.txt`, signal)
      if (!source) throw new Error('the file is not there')
      const targetKey = `documents/${workspaceId}/file_1/${newAttemptId()}`
      await process.deps.objects.copy({ source, targetKey, mimeType: 'text/plain' }, signal)
      const { usedBytes = 0, version = 0 } = (await process.deps.ledgers.read(workspaceId, signal)) ?? {}
      await process.deps.ledgers.correct(
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
