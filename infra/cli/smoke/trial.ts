import { hash, randomBytes } from 'node:crypto'
import { S3 } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import pMap from 'p-map'
import { newApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { keyIdIn, keyIdOf, newToken } from '../../../lib/auth/api-token.ts'
import { ONLY_IF_LISTED } from '../../../lib/auth/caller.ts'
import { connectionsOf } from '../../../lib/aws/clients.ts'
import { ServiceError } from '../../../lib/errors.ts'
import type { ContainerId, DocumentId, FilePath, WorkspaceId } from '../../../lib/ids.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { documentsIn } from '../commands/documents-commands.ts'
import type { Stores } from '../connect.ts'
import { type Check, problem } from '../doctor/check.ts'
import { explainFailure } from '../explain-failure.ts'

export type TrialFile = { path: FilePath; bytes: Buffer }

/** Shared by the checks: a workspace of their own, with a management key and files in a sandbox. */
export type Trial = ReturnType<typeof newTrial>

export interface SmokeCheck {
  name: string
  run(trial: Trial, signal: AbortSignal): ReturnType<Check['run']>
  /** It only waits, for minutes, and may be left out or interrupted. */
  waitsFor?: 'expiry' | 'telemetry'
}

/** The sandbox's files that are to be promoted together. */
export const FOLDER = 'smoke/'
export const SMALL = `${FOLDER}small.txt` as FilePath
export const MISSING = `${FOLDER}missing.txt` as FilePath
export const OF_NO_OBJECT = '"00000000000000000000000000000000"'

const KEY_LIFE_MS = 60 * 60 * 1000

export function newTrial(stores: Stores, baseUrl: string) {
  const run = randomBytes(6).toString('hex')
  const { multipartThresholdBytes, maxFileBytes, s3ForcePathStyle: forcePathStyle } = stores.config
  const largeBytes = Math.max(multipartThresholdBytes + 1, 10 * 2 ** 20)
  const hasLarge = largeBytes <= Math.min(maxFileBytes, 2 ** 27) // The setup has a minute for it.
  const twoPartsBytes = 5 * 2 ** 20 + 1 // The parts of an upload are the least that S3 takes.
  const hasTwoParts = twoPartsBytes <= Math.min(maxFileBytes, multipartThresholdBytes)
  const workspaceId = `ws_smoke_${run}` as WorkspaceId
  const file = (path: string, bytes: Buffer) => ({ path: path as FilePath, bytes })
  const small = file(SMALL, Buffer.from(`smoke ${run}\n`))
  return {
    stores,
    // The SDK's own retries are wanted here: every call may be repeated.
    s3: new S3({ maxAttempts: 3, forcePathStyle, requestHandler: connectionsOf(16) }),
    /** Ends with the version, as base_url does everywhere. */
    baseUrl: baseUrl.replace(/\/$/, ''),
    workspaceId,
    containerId: `sess_smoke-${run}` as ContainerId,
    files: {
      small,
      oddlyNamed: file(`${FOLDER}Übung 100% (a+b) %2F ☃.txt`, Buffer.from(`odd ${run}\n`)),
      ...(hasTwoParts && { uploadedInParts: file('uploaded-in-parts.bin', randomBytes(twoPartsBytes)) }),
      ...(hasLarge && { large: file('large.bin', randomBytes(largeBytes)) }),
    },
    /** Comes while somebody waits for it. */
    late: file('late.txt', Buffer.from(`late ${run}\n`)),
    /** The small one, put back. */
    restored: file('restored.txt', small.bytes),
    token: newToken(keyIdOf(workspaceId)),
    /** Documents that the service answered with, by their source file. */
    documents: new Map<DocumentId, TrialFile>(),
    /** That of the last promotion that was answered 200. */
    requestId: '',
    startedAtMs: Date.now(),
    /** Expires while the checks run. */
    expiring: undefined as WorkspaceDocument | undefined,
  }
}

export async function setUp(trial: Trial, abortSignal: AbortSignal): Promise<string> {
  const { stores, workspaceId, startedAtMs } = trial
  const files = Object.values(trial.files)
  await stores.workspaces.create(workspaceId, { quotaBytes: roomFor(trial) }, abortSignal)
  const expiresAtMs = startedAtMs + KEY_LIFE_MS
  const permissions = [...ONLY_IF_LISTED]
  const grant = { workspaceId, kind: 'management', permissions, userId: 'smoke', expiresAtMs } as const
  const key = newApiKeyRecord(trial.token, grant, startedAtMs)
  await stores.apiKeys.add(key, abortSignal)
  for (const file of files) await putFile(file, trial, abortSignal)
  return `${workspaceId}, ${key.keyId}, ${files.length} files`
}

/** Small files are promoted again and again. */
export const roomFor = ({ files }: Trial) =>
  Object.values(files).reduce((sum, { bytes }) => sum + 2 * bytes.length, 2 ** 20)

/** Uploads large files in parts, with SHA-256s of these: S3 knows none of the whole. */
export async function putFile({ path, bytes }: TrialFile, trial: Trial, signal: AbortSignal): Promise<void> {
  const kind = { ContentType: 'application/octet-stream', ChecksumAlgorithm: 'SHA256' as const }
  const params = { ...sandboxObject(path, trial), ...kind, Body: bytes }
  await new Upload({ client: trial.s3, params, abortController: { signal, abort() {} } }).done()
}

export const sha256Of = ({ bytes }: TrialFile) => hash('sha256', bytes)

export function sandboxObject(path: FilePath, { stores, workspaceId, containerId }: Trial) {
  const Key = stores.objectKeys.sandboxFile({ workspaceId, containerId, path })
  return { Bucket: stores.config.sandboxBucket, Key }
}

/** Goes on when something cannot be removed; may be repeated. */
export async function tearDown(trial: Trial, abortSignal: AbortSignal): ReturnType<Check['run']> {
  const { stores, s3, workspaceId, files, late, restored, token } = trial
  const left: string[] = []
  const remove = async (what: string, work: () => Promise<unknown>) => {
    await work().catch((error) => left.push(`${what} (${explainFailure(error).message})`))
  }
  const keyId = keyIdIn(token)
  // The key goes first, so that no request comes in any more.
  await remove(`key ${keyId}`, () => stores.apiKeys.remove(keyId, abortSignal))
  const deleteOne = (document: WorkspaceDocument) =>
    remove(`document ${document.documentId}`, () => deleteDocument(document, {}, stores, abortSignal))
  const documents = documentsIn(stores.documents.list(workspaceId, abortSignal))
  await remove(`documents of ${workspaceId}`, () => pMap(documents, deleteOne, { concurrency: 8 }))
  for (const { path } of [...Object.values(files), late, restored]) {
    const object = sandboxObject(path, trial)
    await remove(`sandbox file ${object.Key}`, () => s3.deleteObject(object, { abortSignal }))
  }
  // The workspace goes only when nothing is left in it.
  const removeWorkspace = async () => {
    const version = (await stores.ledger.read(workspaceId, abortSignal))?.version
    if (!(await stores.workspaces.remove(workspaceId, version, abortSignal))) throw new ServiceError('workspace_busy')
  }
  if (left.length > 0) left.push(`workspace ${workspaceId}, which counts what is left`)
  else await remove(`workspace ${workspaceId}`, removeWorkspace)
  if (left.length > 0) return problem(`left behind: ${left.join('; ')}`)
  return 'workspace, key, files and documents were removed'
}
