import { createHash, randomUUID } from 'node:crypto'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { newToken } from '../../../lib/auth/api-token.ts'
import type { FilePath } from '../../../lib/ids.ts'
import { audit } from '../../../lib/maintenance/audit.ts'
import { deleteDocument } from '../../../lib/promotion/delete-document.ts'
import { NotChecked, type SmokeContext, SmokeProblem } from './context.ts'
import { type Answer, ask, expectAnswer, promote, promotePath } from './http.ts'
import type { TrialFile } from './trial.ts'

export interface SmokeCheck {
  name: string
  /** @returns what was seen */
  look(context: SmokeContext, signal: AbortSignal): Promise<string>
}

/** In this order: each may use what those before it have made. */
export const CHECKS: SmokeCheck[] = [
  {
    name: 'promote a small file',
    look: ({ files, ...rest }, signal) => promoteOne(files.small, { files, ...rest }, signal),
  },
  {
    name: 'promote a file with an odd name',
    look: (context, signal) => promoteOne(context.files.oddlyNamed, context, signal),
  },
  { name: 'promote a file in parts', look: (context, signal) => promoteOne(context.files.large, context, signal) },
  { name: 'bytes of the documents', look: compareBytes },
  { name: 'list the documents', look: listDocuments },
  { name: 'download a document', look: downloadDocument },
  { name: 'find and download a container file', look: downloadContainerFile },
  { name: 'repeat with an Idempotency-Key', look: repeat },
  { name: 'a missing file', look: missingFile },
  { name: 'a wrong key', look: (context, signal) => refused(context, signal, { token: newToken() }) },
  { name: 'no key', look: (context, signal) => refused(context, signal, { token: null }) },
  { name: 'an unknown route', look: unknownRoute },
  { name: 'a full quota', look: fullQuota },
  { name: 'a preflight', look: preflight },
  { name: 'delete a document', look: deleteOne },
  { name: 'audit of the workspace', look: auditWorkspace },
]

async function promoteOne(file: TrialFile, context: SmokeContext, signal: AbortSignal): Promise<string> {
  const answer = await promote(file, context, signal)
  expectAnswer(answer, 200)
  const { filename, size_bytes: sizeBytes } = answer.body
  if (filename === file.path && sizeBytes === file.bytes.length) return `200, ${sizeBytes} bytes`
  throw new SmokeProblem(`answered ${filename} of ${sizeBytes} bytes, not ${file.path} of ${file.bytes.length}`)
}

async function compareBytes({ documents, stores, s3, workspaceId }: SmokeContext, abortSignal: AbortSignal) {
  for (const [documentId, file] of documents) {
    const document = await stores.documents.find(workspaceId, documentId, abortSignal)
    if (document === undefined) throw new SmokeProblem(`document ${documentId} was answered and is not recorded`)
    const object = { Bucket: stores.config.documentsBucket, Key: document.objectKey }
    const { Body } = await s3.send(new GetObjectCommand(object), { abortSignal })
    requireSame(await Body?.transformToByteArray(), file, `object of ${file.path}`)
  }
  if (documents.size === 0) throw new SmokeProblem('there is no document to compare')
  return `${documents.size} documents hold what was put into the sandbox`
}

function requireSame(bytes: Uint8Array | undefined, file: TrialFile, what: string): void {
  const digest = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')
  if (bytes !== undefined && digest(bytes) === digest(file.bytes)) return
  throw new SmokeProblem(
    `the ${what} has ${bytes?.length ?? 'no'} bytes, and others than the file's ${file.bytes.length}`,
  )
}

async function listDocuments(context: SmokeContext, signal: AbortSignal): Promise<string> {
  const answer = await ask('/files', { headers: { 'file-shape': 'native' } }, context, signal)
  requireOffered(answer, 'GET /files')
  expectAnswer(answer, 200)
  const listed = new Set(answer.body.data.map(({ id }: { id: string }) => id))
  const lacking = [...context.documents.keys()].filter((id) => !listed.has(id))
  if (lacking.length > 0) throw new SmokeProblem(`${lacking.join(', ')} is not listed`)
  return `200, ${listed.size} documents`
}

async function downloadDocument(context: SmokeContext, signal: AbortSignal): Promise<string> {
  const [[id, file] = []] = context.documents
  if (id === undefined || file === undefined) throw new SmokeProblem('there is no document to download')
  const path = `/files/${id}/content`
  const probe = await ask(path, { method: 'GET', token: null }, context, signal)
  requireOffered(probe, 'GET /files/{id}/content')
  return download(path, file, context, signal)
}

async function downloadContainerFile(context: SmokeContext, signal: AbortSignal): Promise<string> {
  const { small } = context.files
  const path = `/containers/${context.containerId}/files`
  const answer = await ask(path, {}, context, signal)
  requireOffered(answer, 'GET /containers/{id}/files')
  expectAnswer(answer, 200)
  const found = answer.body.data.find((each: { path: string }) => each.path === small.path)
  if (found === undefined) throw new SmokeProblem(`${small.path} is not listed`)
  return download(`${path}/${found.id}/content`, small, context, signal)
}

async function download(path: string, file: TrialFile, context: SmokeContext, signal: AbortSignal): Promise<string> {
  const headers = { authorization: `Bearer ${context.token}` }
  const response = await fetch(`${context.baseUrl}${path}`, { headers, signal })
  if (response.status !== 200) throw new SmokeProblem(`answered ${response.status}, not 200`)
  requireSame(new Uint8Array(await response.arrayBuffer()), file, 'download')
  return `200, ${file.bytes.length} bytes, the same`
}

function requireOffered({ status, body }: Answer, route: string): void {
  if (status === 404 && body?.error?.metadata?.reason === 'route_not_found') {
    throw new NotChecked(`this deployment has no ${route}`)
  }
}

async function repeat(context: SmokeContext, signal: AbortSignal): Promise<string> {
  const headers = { 'idempotency-key': `smoke-${randomUUID()}` }
  const first = await promote(context.files.small, context, signal, headers)
  expectAnswer(first, 200)
  const second = await promote(context.files.small, context, signal, headers)
  expectAnswer(second, 200)
  const isReplay = second.headers.get('idempotency-replayed') === 'true'
  if (first.body.id === second.body.id && isReplay) return '200 twice, one document'
  throw new SmokeProblem(`the repetition made ${second.body.id} beside ${first.body.id}, replayed: ${isReplay}`)
}

async function missingFile(context: SmokeContext, signal: AbortSignal): Promise<string> {
  const path = promotePath({ path: 'smoke/missing.txt' as FilePath }, context)
  expectAnswer(await ask(path, { method: 'POST' }, context, signal), 404, 'container_file_not_found')
  return '404 container_file_not_found'
}

async function refused(
  context: SmokeContext,
  signal: AbortSignal,
  question: { token: string | null },
): Promise<string> {
  const reason = question.token === null ? 'missing_authorization' : 'invalid_api_key'
  const path = promotePath(context.files.small, context)
  expectAnswer(await ask(path, { method: 'POST', ...question }, context, signal), 401, reason)
  return `401 ${reason}`
}

async function unknownRoute(context: SmokeContext, signal: AbortSignal): Promise<string> {
  expectAnswer(await ask('/smoke/no/such/route', {}, context, signal), 404, 'route_not_found')
  return '404 route_not_found, with our error body'
}

async function fullQuota(context: SmokeContext, signal: AbortSignal): Promise<string> {
  const { stores, workspaceId, files } = context
  const ledger = await stores.ledgers.read(workspaceId, signal)
  if (ledger === undefined) throw new SmokeProblem('the workspace has no ledger')
  await stores.workspaces.setQuota(workspaceId, ledger.usedBytes, signal)
  try {
    expectAnswer(await promote(files.small, context, signal), 403, 'storage_quota_exceeded')
  } finally {
    await stores.workspaces.setQuota(workspaceId, ledger.quotaBytes, signal)
  }
  return '403 storage_quota_exceeded'
}

async function preflight(context: SmokeContext, signal: AbortSignal): Promise<string> {
  const headers = { origin: 'https://smoke.example.com', 'access-control-request-method': 'POST' }
  const path = promotePath(context.files.small, context)
  const answer = await ask(path, { method: 'OPTIONS', token: null, headers }, context, signal)
  const allowed = answer.headers.get('access-control-allow-origin')
  if (answer.status < 300 && allowed) return `${answer.status}, allows ${allowed}`
  if (answer.status < 500) throw new NotChecked('CORS is off')
  throw new SmokeProblem(`answered ${answer.status}`)
}

async function deleteOne(context: SmokeContext, signal: AbortSignal): Promise<string> {
  const [id] = context.documents.keys()
  if (id === undefined) throw new SmokeProblem('there is no document to delete')
  const answer = await ask(`/files/${id}`, { method: 'DELETE' }, context, signal)
  const isOffered = !(answer.status === 404 && answer.body?.error?.metadata?.reason === 'route_not_found')
  if (isOffered) expectAnswer(answer, 200)
  else await deleteDocument({ workspaceId: context.workspaceId, documentId: id }, context.stores, signal)
  if ((await context.stores.documents.find(context.workspaceId, id, signal)) !== undefined) {
    throw new SmokeProblem(`${id} is still recorded`)
  }
  context.documents.delete(id)
  return isOffered ? '200' : 'by the administration: this deployment has no DELETE /files/{id}'
}

async function auditWorkspace({ stores, workspaceId }: SmokeContext, signal: AbortSignal): Promise<string> {
  const kinds: string[] = []
  const report = await audit(
    {
      repair: false,
      deleteLostDocuments: false,
      workspaceId,
      onFinding: ({ kind }) => void kinds.push(kind),
    },
    stores,
    signal,
  )
  if (report.findings > 0) throw new SmokeProblem(`${report.findings} findings: ${kinds.join(', ')}`)
  return `${report.documents} documents of ${report.documentBytes} bytes, nothing is wrong`
}
