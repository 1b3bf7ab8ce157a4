import { randomUUID } from 'node:crypto'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { audit } from '../../../lib/audit/audit.ts'
import { newToken } from '../../../lib/auth/api-token.ts'
import type { FilePath } from '../../../lib/ids.ts'
import { notChecked } from '../doctor/check.ts'
import { copyConditions } from './copy-conditions.ts'
import { ask, expectAnswer, promote, promotePath } from './http.ts'
import type { SmokeCheck, Trial, TrialFile } from './trial.ts'

const MISSING = 'smoke/missing.txt' as FilePath

/** They run in this order: each may use what those before it have made. */
export const CHECKS: SmokeCheck[] = [
  { name: 'promote a small file', run: (...run) => promoteOne('small', ...run) },
  { name: 'promote a file with an odd name', run: (...run) => promoteOne('oddlyNamed', ...run) },
  { name: 'promote a file in parts', run: (...run) => promoteOne('large', ...run) },
  { name: 'bytes of the documents', run: compareBytes },
  { name: 'list the documents', run: listDocuments },
  { name: 'download a document', run: downloadDocument },
  { name: 'find and download a container file', run: downloadContainerFile },
  { name: 'repeat with an Idempotency-Key', run: repeat },
  refusal('a missing file', '404 container_file_not_found', (trial) => promotePath(MISSING, trial)),
  refusal('a wrong key', '401 invalid_api_key', (trial) => promotePath(trial.files.small.path, trial), newToken()),
  refusal('no key', '401 missing_authorization', (trial) => promotePath(trial.files.small.path, trial), null),
  refusal('an unknown route', '404 route_not_found', () => '/smoke/no/such/route'),
  { name: 'a full quota', run: fullQuota },
  { name: 'a preflight', run: preflight },
  { name: 'delete a document', run: deleteOne },
  { name: 'conditions of copies', run: copyConditions },
  { name: 'audit of the workspace', run: auditWorkspace },
]

async function promoteOne(which: keyof Trial['files'], trial: Trial, signal: AbortSignal) {
  const file = trial.files[which]
  if (file === undefined) return notChecked('files in parts are above maxFileBytes here, or too large to upload')
  const answer = await promote(file, trial, signal)
  expectAnswer(answer, 200)
  const { filename, size_bytes: sizeBytes } = answer.body
  if (filename === file.path && sizeBytes === file.bytes.length) return `200, ${sizeBytes} bytes`
  throw new Error(`answered ${filename} of ${sizeBytes} bytes, not ${file.path} of ${file.bytes.length}`)
}

async function compareBytes({ documents, stores, s3, workspaceId }: Trial, abortSignal: AbortSignal): Promise<string> {
  for (const [documentId, file] of documents) {
    const document = await stores.documents.find(workspaceId, documentId, abortSignal)
    if (document === undefined) throw new Error(`document ${documentId} was answered and is not recorded`)
    const object = { Bucket: stores.config.documentsBucket, Key: document.objectKey }
    const { Body } = await s3.send(new GetObjectCommand(object), { abortSignal })
    requireSame(await Body?.transformToByteArray(), file, `object of ${file.path}`)
  }
  if (documents.size === 0) throw new Error('there is no document to compare')
  return `${documents.size} documents hold what was put into the sandbox`
}

function requireSame(bytes: Uint8Array | undefined, file: TrialFile, what: string): void {
  if (bytes !== undefined && file.bytes.equals(bytes)) return
  const found = `${bytes?.length ?? 'no'} bytes, and others than the file's ${file.bytes.length}`
  throw new Error(`the ${what} has ${found}`)
}

async function listDocuments(trial: Trial, signal: AbortSignal): Promise<string> {
  const answer = await ask('/files', { headers: { 'file-shape': 'native' } }, trial, signal)
  expectAnswer(answer, 200)
  const listed = new Set(answer.body.data.map(({ id }: { id: string }) => id))
  const lacking = [...trial.documents.keys()].filter((id) => !listed.has(id))
  if (lacking.length > 0) throw new Error(`${lacking.join(', ')} is not listed`)
  return `200, ${listed.size} documents`
}

async function downloadDocument(trial: Trial, signal: AbortSignal): Promise<string> {
  const [[id, file] = []] = trial.documents
  if (id === undefined || file === undefined) throw new Error('there is no document to download')
  return download(`/files/${id}/content`, file, trial, signal)
}

async function downloadContainerFile(trial: Trial, signal: AbortSignal): Promise<string> {
  const { small } = trial.files
  const path = `/containers/${trial.containerId}/files`
  const answer = await ask(path, {}, trial, signal)
  expectAnswer(answer, 200)
  const found = answer.body.data.find((each: { path: string }) => each.path === small.path)
  if (found === undefined) throw new Error(`${small.path} is not listed`)
  return download(`${path}/${found.id}/content`, small, trial, signal)
}

async function download(path: string, file: TrialFile, trial: Trial, signal: AbortSignal): Promise<string> {
  const headers = { authorization: `Bearer ${trial.token}` }
  const response = await fetch(`${trial.baseUrl}${path}`, { headers, signal })
  if (response.status !== 200) throw new Error(`answered ${response.status}, not 200`)
  requireSame(new Uint8Array(await response.arrayBuffer()), file, 'download')
  return `200, ${file.bytes.length} bytes, the same`
}

async function repeat(trial: Trial, signal: AbortSignal): Promise<string> {
  const headers = { 'idempotency-key': `smoke-${randomUUID()}` }
  const first = await promote(trial.files.small, trial, signal, headers)
  expectAnswer(first, 200)
  const second = await promote(trial.files.small, trial, signal, headers)
  expectAnswer(second, 200)
  const isReplay = second.headers.get('idempotency-replayed') === 'true'
  if (first.body.id === second.body.id && isReplay) return '200 twice, one document'
  throw new Error(`the repetition made ${second.body.id} beside ${first.body.id}, replayed: ${isReplay}`)
}

/** @param expected status and reason @param token null: none. Left out: the key of the run. */
function refusal(name: string, expected: string, pathOf: (trial: Trial) => string, token?: string | null): SmokeCheck {
  const [status, reason] = expected.split(' ')
  return {
    name,
    async run(trial, signal) {
      const question = { method: 'POST', ...(token !== undefined && { token }) }
      expectAnswer(await ask(pathOf(trial), question, trial, signal), Number(status), reason)
      return expected
    },
  }
}

async function fullQuota(trial: Trial, signal: AbortSignal): Promise<string> {
  const { stores, workspaceId, files } = trial
  const ledger = await stores.workspaces.read(workspaceId, signal)
  if (ledger === undefined) throw new Error('the workspace has no ledger')
  const { quotaBytes, usedBytes } = ledger
  await stores.workspaces.setQuota(workspaceId, { shownBytes: quotaBytes, toBytes: usedBytes }, signal)
  try {
    expectAnswer(await promote(files.small, trial, signal), 403, 'storage_quota_exceeded')
  } finally {
    await stores.workspaces.setQuota(workspaceId, { shownBytes: usedBytes, toBytes: quotaBytes }, signal)
  }
  return '403 storage_quota_exceeded'
}

async function preflight(trial: Trial, signal: AbortSignal) {
  const headers = { origin: 'https://smoke.example.com', 'access-control-request-method': 'POST' }
  const path = promotePath(trial.files.small.path, trial)
  const answer = await ask(path, { method: 'OPTIONS', token: null, headers }, trial, signal)
  const allowed = answer.headers.get('access-control-allow-origin')
  if (answer.status < 300 && allowed) return `${answer.status}, allows ${allowed}`
  if (answer.status < 500) return notChecked('CORS is off')
  throw new Error(`answered ${answer.status}`)
}

async function deleteOne(trial: Trial, signal: AbortSignal): Promise<string> {
  const { documents, stores, workspaceId } = trial
  const [id] = documents.keys()
  if (id === undefined) throw new Error('there is no document to delete')
  expectAnswer(await ask(`/files/${id}`, { method: 'DELETE' }, trial, signal), 200)
  const isRecorded = (await stores.documents.find(workspaceId, id, signal)) !== undefined
  if (isRecorded) throw new Error(`${id} is still recorded`)
  documents.delete(id)
  return '200'
}

async function auditWorkspace({ stores, workspaceId }: Trial, signal: AbortSignal): Promise<string> {
  const kinds: string[] = []
  const onFinding = ({ kind }: { kind: string }) => void kinds.push(kind)
  const report = await audit({ repair: false, deleteLostDocuments: false, workspaceId, onFinding }, stores, signal)
  if (report.findings > 0) throw new Error(`${report.findings} findings: ${kinds.join(', ')}`)
  return `${report.documents} documents of ${report.documentBytes} bytes, nothing is wrong`
}
