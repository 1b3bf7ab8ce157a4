import { expect } from 'vitest'
import { newAttemptId } from '../../lib/ids.ts'
import { patternBytes } from '../contract/object-store.contract.ts'
import type { Lane } from './lane.ts'
import type { AnyResponse } from './openapi.ts'
import type { OperationName } from './operations.ts'
import type { createWorld, TestWorkspace } from './world.ts'

type World = ReturnType<typeof createWorld>

/** A run of some part of the service that faults are put into, on a workspace of its own. */
export interface Scenario {
  name: string
  /** Brings a workspace into the state before the run, without faults. */
  prepare(lane: Lane, world: World): Promise<TestWorkspace>
  /** @returns the HTTP answer where there is one */
  run(lane: Lane, workspace: TestWorkspace): Promise<AnyResponse | undefined>
  /** Documents there are before the run. */
  documentsBefore: number
  /** Objects there may be before the run, that it may or may not remove. */
  strayObjects?: number
}

/** Long enough for a run without a call that hangs; the deadline leaves 2.5 s of it for the undo. */
const REMAINING_MS = 4000
const SMALL = Buffer.from('small')
/** Two parts with the local stage's smallest part of 5 MiB. */
const LARGE = patternBytes(10 * 1024 * 1024 + 1)
const TOO_MUCH = Buffer.from('more than fits')
const KEY = 'key-of-the-caller'
const HOURS_MS = 2 * 3_600_000

const withFile = async (world: World, bytes: Buffer, quotaBytes = 10 ** 9): Promise<TestWorkspace> => {
  const workspace = await world.newWorkspace(quotaBytes)
  await world.putFile(workspace, 'a.txt', bytes)
  return workspace
}
const promote = (lane: Lane, workspace: TestWorkspace, idempotencyKey?: string) =>
  lane.promote(workspace, 'a.txt', { remainingMs: REMAINING_MS, ...(idempotencyKey && { idempotencyKey }) })

/** A promotion whose process is killed right after this call. */
const killAfter = async (lane: Lane, workspace: TestWorkspace, call: string): Promise<void> => {
  lane.breakCalls(({ name }) => (name === call ? { kind: 'kill_after' } : undefined))
  await promote(lane, workspace)
  lane.revive()
}

const documentIdOf = async (lane: Lane, { workspaceId }: TestWorkspace) => {
  for await (const { documentId } of lane.deps.documents.list(workspaceId, AbortSignal.timeout(60_000)))
    return documentId
  throw new Error('the workspace has no document')
}

export const SCENARIOS: Scenario[] = [
  {
    name: 'a small file',
    prepare: (_, world) => withFile(world, SMALL),
    run: (lane, workspace) => promote(lane, workspace),
    documentsBefore: 0,
  },
  {
    name: 'a file in parts',
    prepare: (_, world) => withFile(world, LARGE),
    run: (lane, workspace) => promote(lane, workspace),
    documentsBefore: 0,
  },
  {
    name: 'the first promotion of a workspace',
    async prepare(_, world) {
      const workspace = await world.newWorkspace()
      await world.putFile(workspace, 'a.txt', SMALL)
      return workspace
    },
    run: (lane, workspace) => promote(lane, workspace),
    documentsBefore: 0,
  },
  {
    name: 'with an Idempotency-Key',
    prepare: (_, world) => withFile(world, SMALL),
    run: (lane, workspace) => promote(lane, workspace, KEY),
    documentsBefore: 0,
  },
  {
    name: 'a replay',
    async prepare(lane, world) {
      const workspace = await withFile(world, SMALL)
      await promote(lane, workspace, KEY)
      return workspace
    },
    run: (lane, workspace) => promote(lane, workspace, KEY),
    documentsBefore: 1,
  },
  {
    name: 'refused for the quota',
    prepare: (_, world) => withFile(world, TOO_MUCH, TOO_MUCH.length - 1),
    run: (lane, workspace) => promote(lane, workspace),
    documentsBefore: 0,
  },
  {
    name: 'refused until a dead promotion is resolved',
    async prepare(lane, world) {
      const workspace = await withFile(world, TOO_MUCH, TOO_MUCH.length)
      await killAfter(lane, workspace, 'CopyObject')
      lane.setClock(HOURS_MS)
      return workspace
    },
    run: (lane, workspace) => promote(lane, workspace),
    documentsBefore: 0,
    strayObjects: 1,
  },
  ...['ledger.take', 'reservations.open', 'CopyObject', 'documents.record'].map((call) => ({
    name: `the resolver after ${call}`,
    async prepare(lane: Lane, world: World) {
      const workspace = await withFile(world, SMALL)
      await killAfter(lane, workspace, call)
      lane.setClock(HOURS_MS)
      return workspace
    },
    async run(lane: Lane, { workspaceId }: TestWorkspace) {
      await lane.resolveWorkspace(workspaceId, 1500)
      return undefined
    },
    documentsBefore: call === 'documents.record' ? 1 : 0,
  })),
  {
    name: 'deleting a document',
    async prepare(lane, world) {
      const workspace = await withFile(world, SMALL)
      await promote(lane, workspace)
      return workspace
    },
    async run(lane, workspace) {
      await lane.delete(workspace.workspaceId, await documentIdOf(lane, workspace), 1500)
      return undefined
    },
    documentsBefore: 1,
  },
  {
    name: 'a deletion through the API, beside a list and a download',
    async prepare(lane, world) {
      const workspace = await withFile(world, SMALL)
      await promote(lane, workspace)
      return workspace
    },
    async run(lane, workspace) {
      const parameters = { document_id: await documentIdOf(lane, workspace) }
      const call = (name: OperationName) =>
        lane.call(name, workspace, {
          ...(name !== 'list_documents' && { parameters }),
          remainingMs: REMAINING_MS,
        })
      const answers = await Promise.all([call('delete_document'), call('list_documents'), call('download_document')])
      if (!lane.isDead()) {
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
    async prepare(lane, world) {
      const workspace = await withFile(world, SMALL)
      const { workspaceId } = workspace
      await promote(lane, workspace)
      const lost = await documentIdOf(lane, workspace)
      await promote(lane, workspace)
      const signal = AbortSignal.timeout(60_000)
      const document = await lane.deps.documents.find(workspaceId, lost, signal)
      await lane.deps.objects.discard(document?.objectKey ?? '', signal)
      const source = await lane.deps.objects.findContainerFile(`sandboxes/${workspaceId}/sess_1/a.txt`, signal)
      if (!source) throw new Error('the file is not there')
      const targetKey = `documents/${workspaceId}/file_1/${newAttemptId()}`
      await lane.deps.objects.copy({ source, targetKey, mimeType: 'text/plain' }, signal)
      const { usedBytes = 0, version = 0 } = (await lane.deps.ledgers.read(workspaceId, signal)) ?? {}
      await lane.deps.ledgers.correct(
        workspaceId,
        { usedBytes, expectedBytes: 77, at: { version, lastVersion: version } },
        signal,
      )
      lane.setClock(HOURS_MS)
      return workspace
    },
    async run(lane, { workspaceId }) {
      await lane.audit(workspaceId, true, 1500)
      return undefined
    },
    documentsBefore: 2,
  },
]
