import { newAttemptId } from '../../../lib/ids.ts'
import type { AnyResponse } from '../api/openapi.ts'
import { deadlineIn } from '../api/rest-event.ts'
import { dynamoDbError } from './aws-failures.ts'
import { LARGE_BYTES } from './promotions-that-fail.ts'
import type { TestProcess } from './test-process.ts'
import type { TestWorkspace } from './workspaces.ts'

/** How long a run has. */
export interface RunLimits {
  /** The limits of a request: until its deadline, and then for the undo. */
  leftMs: number
  undoMs: number
  /** The limit of everything else. */
  boundMs: number
}

/** A run of some part of the service that faults are put into, on a workspace of its own. */
export interface Scenario {
  name: string
  /** Brings a workspace into the state before the run, without faults. */
  prepare(process: TestProcess): Promise<TestWorkspace>
  /** @returns the HTTP answer where there is one */
  run(process: TestProcess, workspace: TestWorkspace, limits: RunLimits): Promise<AnyResponse | undefined>
  /** The answer's, if nothing is broken. Left out: 200. */
  status?: number
  /** Documents there are before the run. */
  documentsBefore: number
  /** They have expired: the run may delete them even if it fails. */
  haveExpired?: true
  /** Calls that another scenario, or another suite, breaks with the same outcome. */
  brokenElsewhere?: RegExp | undefined
  /** Objects there may be after a failed run, which the resolver removes. */
  strayObjects?: number
}

export const SMALL = Buffer.from('small')
export const TOO_MUCH = Buffer.from('more than fits')
export const KEY = 'key-of-the-caller'
export const HOURS_MS = 2 * 3_600_000
/** Longer than a lease, but soon enough for the resolver to go on with a deletion. */
export const MINUTES_MS = 5 * 60_000

export const withFile = async (process: TestProcess, bytes: Buffer, quotaBytes = 10 ** 9): Promise<TestWorkspace> => {
  const workspace = await process.newWorkspace(quotaBytes)
  await process.putFile(workspace, 'a.txt', bytes)
  return workspace
}
export const promote = (
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

export const withDocument = async (process: TestProcess, idempotencyKey?: string, headers?: Record<string, string>) => {
  const workspace = await withFile(process, SMALL)
  await promote(process, workspace, undefined, idempotencyKey, headers)
  return workspace
}

/** The id of the first document, or of what a deletion has left of it. */
export const documentIdOf = async (process: TestProcess, { workspaceId }: TestWorkspace) => {
  for await (const { documentId } of process.deps.documents.list(workspaceId, AbortSignal.timeout(60_000)))
    return documentId
  throw new Error('the workspace has no document')
}

/** A promotion that died after this call, this long ago. @param denied what it was to undo */
export const deadPromotion =
  (call: string, agoMs: number, idempotencyKey?: string, denied?: string) => async (process: TestProcess) => {
    const workspace = await withFile(process, call === 'UploadPartCopy' ? LARGE_BYTES : SMALL)
    await killAfter(process, call, () => promote(process, workspace, undefined, idempotencyKey), denied)
    process.setClock(agoMs)
    return workspace
  }

export const deadDeletion = (call: string) => async (process: TestProcess) => {
  const workspace = await withDocument(process)
  const documentId = await documentIdOf(process, workspace)
  await killAfter(process, call, () => process.delete(workspace.workspaceId, documentId))
  process.setClock(MINUTES_MS)
  return workspace
}

/** A document without its object, an object without a document, and a drift. */
export const withFindings = async (process: TestProcess) => {
  const workspace = await withDocument(process)
  const { workspaceId } = workspace
  const lost = await documentIdOf(process, workspace)
  await promote(process, workspace)
  const signal = AbortSignal.timeout(60_000)
  const document = await process.deps.documents.find({ workspaceId, documentId: lost }, signal)
  await process.deps.objects.discard({ objectKey: document?.objectKey ?? '' }, signal)
  const source = await process.deps.objects.findContainerFile(`sandboxes/${workspaceId}/sess_1/a.txt`, signal)
  if (!source) throw new Error('the file is not there')
  const objectKey = `documents/${workspaceId}/file_1/${newAttemptId()}`
  await process.deps.objects.copy({ source, objectKey, mimeType: 'text/plain' }, signal)
  const counted = await process.deps.ledger.read(workspaceId, signal)
  if (!counted) throw new Error('the ledger is not there')
  const at = { createdAtMs: counted.createdAt.getTime(), version: counted.version }
  const drift = { counted, expected: { usedBytes: 77, documents: 7 }, at }
  await process.deps.workspaces.correct(workspaceId, drift, signal)
  process.setClock(HOURS_MS)
  return workspace
}
