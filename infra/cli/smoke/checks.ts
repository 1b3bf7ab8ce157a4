import { audit } from '../../../lib/audit/audit.ts'
import { newToken } from '../../../lib/auth/api-token.ts'
import { advice, notChecked } from '../doctor/check.ts'
import { ask, expectAnswer, filePath, promotePath, type Question } from './http.ts'
import { expectExpired, letExpire, promoteTwice, promoteWhenThere, promotion, promotionOfMany } from './promotions.ts'
import { copyConditions, copyVersion, missingKey } from './s3.ts'
import { findLogLines, findMetrics } from './telemetry.ts'
import { FOLDER, MISSING, OF_NO_OBJECT, roomFor, SMALL, type SmokeCheck, type Trial, type TrialFile } from './trial.ts'

const small = (trial: Trial) => promotePath(SMALL, trial)

/** They run in this order: each may use what those before it have made. */
export const CHECKS: SmokeCheck[] = [
  promotion('promote a small file', 'small'),
  { name: 'let a document expire', run: letExpire },
  promotion('promote a file with an odd name', 'oddlyNamed'),
  promotion('promote a file uploaded in parts', 'uploadedInParts'),
  promotion('promote a file in parts', 'large'),
  { name: 'promote a file once it is there', run: promoteWhenThere },
  promotionOfMany('promote a folder', { prefix: FOLDER }, 'promoted, promoted'),
  promotionOfMany('promote by paths', { paths: [SMALL, MISSING] }, 'refused container_file_not_found, kept'),
  { name: 'repeat with an Idempotency-Key', run: promoteTwice },
  { name: 'download the documents', run: downloadDocuments },
  { name: 'list the documents', run: listDocuments },
  { name: 'find and download a container file', run: downloadContainerFile },
  { name: 'put a document back', run: putBack },
  { name: 'open a link', run: openLink },
  refusal('a missing file', '404 container_file_not_found', (trial) => promotePath(MISSING, trial)),
  refusal('another ETag', '400 container_file_differs', small, { headers: { 'if-match': OF_NO_OBJECT } }),
  refusal('another SHA-256', '400 container_file_differs', small, { headers: { 'file-sha256': '0'.repeat(64) } }),
  refusal('a wrong key', '401 invalid_api_key', small, { token: newToken() }),
  refusal('no key', '401 missing_authorization', small, { token: null }),
  refusal('an unknown route', '404 route_not_found', () => '/smoke/no/such/route'),
  { name: 'a full quota', run: fullQuota },
  { name: 'a preflight', run: preflight },
  { name: 'delete a document', run: deleteOne },
  { name: "S3's answer for a missing key", run: missingKey },
  { name: 'conditions of copies', run: copyConditions },
  { name: 'a copy of a former version', run: copyVersion },
  { name: 'an expired document', run: expectExpired, waitsFor: 'expiry' },
  { name: 'audit of the workspace', run: auditWorkspace },
  { name: 'log lines', run: findLogLines, waitsFor: 'telemetry' },
  { name: 'metrics', run: findMetrics, waitsFor: 'telemetry' },
]

async function listDocuments(trial: Trial, signal: AbortSignal): Promise<string> {
  const answer = expectAnswer(await ask('/files', { headers: { 'file-shape': 'native' } }, trial, signal), '200')
  const listed = new Set(answer.body.data.map(({ id }: { id: string }) => id))
  const lacking = [...trial.documents.keys()].filter((id) => !listed.has(id))
  if (lacking.length > 0) throw new Error(`${lacking.join(', ')} is not listed`)
  return `200, ${listed.size} documents`
}

async function downloadDocuments(trial: Trial, signal: AbortSignal): Promise<string> {
  const { documents } = trial
  if (documents.size === 0) throw new Error('there is no document to download')
  for (const [id, file] of documents) await download(`/files/${id}/content`, file, trial, signal)
  return `200, ${documents.size} with the bytes that were put into the sandbox`
}

async function downloadContainerFile(trial: Trial, signal: AbortSignal): Promise<string> {
  const { small } = trial.files
  const path = `/containers/${trial.containerId}/files`
  const answer = expectAnswer(await ask(path, {}, trial, signal), '200')
  const found = answer.body.data.find((each: { path: string }) => each.path === small.path)
  if (found === undefined) throw new Error(`${small.path} is not listed`)
  return download(`${path}/${found.id}/content`, small, trial, signal)
}

/** Unchanged, it is not kept twice: S3 tells the SHA-256 of what it has copied. */
async function putBack(trial: Trial, signal: AbortSignal) {
  const { path } = trial.restored
  const [id] = [...trial.documents].find(([, file]) => file === trial.files.small) ?? []
  const body = JSON.stringify({ file_id: id, path })
  const answer = await ask(`/containers/${trial.containerId}/files`, { method: 'POST', body }, trial, signal)
  if (answer.status === 500) return advice('500: may the function write to this sandbox bucket? (docs/deploy.md)')
  expectAnswer(answer, '200')
  await download(`${filePath(path, trial)}/content`, trial.restored, trial, signal)
  const kept = expectAnswer(await ask(promotePath(path, trial), { method: 'POST' }, trial, signal), '200')
  if (kept.body.id === id) return '200, the same bytes, and the same document when it is promoted'
  throw new Error(`promoted, it is kept twice: as ${kept.body.id} beside ${id}`)
}

/** Without a key. */
async function openLink(trial: Trial, signal: AbortSignal) {
  const [[id, file] = []] = trial.documents
  if (id === undefined || file === undefined) throw new Error('there is no document to link to')
  const answer = await ask(`/files/${id}/links`, { method: 'POST' }, trial, signal)
  if (answer.body.error?.metadata.reason === 'route_not_found') return notChecked('links are off')
  const { id: link, url } = expectAnswer(answer, '200').body
  await expectBytes(await fetch(url, { signal }), file)
  expectAnswer(await ask(`/files/${id}/links/${link}`, { method: 'DELETE' }, trial, signal), '200')
  const { status } = await fetch(url, { signal })
  if (status === 404) return '200, the same bytes, and 404 when it is taken back'
  throw new Error(`taken back, it is answered ${status}`)
}

async function download(path: string, file: TrialFile, trial: Trial, signal: AbortSignal): Promise<string> {
  const headers = { authorization: `Bearer ${trial.token}` }
  return expectBytes(await fetch(`${trial.baseUrl}${path}`, { headers, signal }), file)
}

async function expectBytes(response: Response, file: TrialFile): Promise<string> {
  if (response.status !== 200) throw new Error(`answered ${response.status}, not 200`)
  const bytes = await response.bytes()
  if (file.bytes.equals(bytes)) return `200, ${bytes.length} bytes, the same`
  throw new Error(`${file.path} has ${bytes.length} bytes, and others than the file's ${file.bytes.length}`)
}

/** @param expected status and reason */
function refusal(name: string, expected: string, pathOf: (trial: Trial) => string, question?: Question): SmokeCheck {
  const run: SmokeCheck['run'] = async (trial, signal) => {
    expectAnswer(await ask(pathOf(trial), { method: 'POST', ...question }, trial, signal), expected)
    return expected
  }
  return { name, run }
}

async function fullQuota(trial: Trial, signal: AbortSignal): Promise<string> {
  const [room, none] = [{ quotaBytes: roomFor(trial) }, { quotaBytes: 0 }]
  const { workspaces } = trial.stores
  await workspaces.change(trial.workspaceId, { shown: room, to: none }, signal)
  try {
    expectAnswer(await ask(small(trial), { method: 'POST' }, trial, signal), '403 storage_quota_exceeded')
  } finally {
    await workspaces.change(trial.workspaceId, { shown: none, to: room }, signal)
  }
  return '403 storage_quota_exceeded'
}

async function preflight(trial: Trial, signal: AbortSignal) {
  const headers = { origin: 'https://smoke.example.com', 'access-control-request-method': 'POST' }
  const answer = await ask(small(trial), { method: 'OPTIONS', token: null, headers }, trial, signal)
  const allowed = answer.headers.get('access-control-allow-origin')
  if (answer.status < 300 && allowed) return `${answer.status}, allows ${allowed}`
  if (answer.status < 500) return notChecked('CORS is off')
  throw new Error(`answered ${answer.status}`)
}

async function deleteOne(trial: Trial, signal: AbortSignal): Promise<string> {
  const [id] = trial.documents.keys()
  if (id === undefined) throw new Error('there is no document to delete')
  expectAnswer(await ask(`/files/${id}`, { method: 'DELETE' }, trial, signal), '200')
  expectAnswer(await ask(`/files/${id}`, {}, trial, signal), '404 document_not_found')
  return '200'
}

async function auditWorkspace({ stores, workspaceId }: Trial, signal: AbortSignal): Promise<string> {
  const kinds: string[] = []
  const onFinding = ({ kind }: { kind: string }) => void kinds.push(kind)
  const report = await audit({ repair: false, deleteLostDocuments: false, workspaceId, onFinding }, stores, signal)
  if (report.findings > 0) throw new Error(`${report.findings} findings: ${kinds.join(', ')}`)
  return `${report.documents} documents of ${report.documentBytes} bytes, nothing is wrong`
}
