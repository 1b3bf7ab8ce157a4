import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expiresAtOf } from '../../../lib/ledger/expiry.ts'
import { notChecked } from '../doctor/check.ts'
import { ask, expectAnswer, filePath, promote } from './http.ts'
import { eventually } from './telemetry.ts'
import { putFile, type SmokeCheck, sha256Of, type Trial } from './trial.ts'

/** Long enough for the request to arrive first. */
const LATE_MS = 1000
/** As docs/clients.md promises. */
const DELETED_WITHIN_MS = 120_000

/** By its ETag; what is not copied in parts has a SHA-256, however it was uploaded. */
export const promotion = (name: string, which: keyof Trial['files']): SmokeCheck => ({
  name,
  async run(trial, signal) {
    const file = trial.files[which]
    if (file === undefined) return notChecked('such a file is too large here (maxFileBytes, multipartThresholdBytes)')
    const found = expectAnswer(await ask(filePath(file.path, trial), {}, trial, signal), '200')
    const headers = { 'if-match': `${found.headers.get('etag')}` }
    const wanted = which === 'large' ? {} : { 'file-sha256': sha256Of(file) }
    const { filename, size_bytes: sizeBytes } = (await promote(file, { headers, wanted }, trial, signal)).body
    if (filename === file.path && sizeBytes === file.bytes.length) return `200, ${sizeBytes} bytes`
    throw new Error(`answered ${filename} of ${sizeBytes} bytes, not ${file.path} of ${file.bytes.length}`)
  },
})

/** @param wanted the outcomes, in the order of paths */
export const promotionOfMany = (name: string, body: object, wanted: string): SmokeCheck => ({
  name,
  async run(trial, signal) {
    const question = { method: 'POST', headers: { 'file-shape': 'native' }, body: JSON.stringify(body) }
    const answer = await ask(`/containers/${trial.containerId}/promote`, question, trial, signal)
    const outcomes: string[] = []
    for (const { path, outcome, document, error } of expectAnswer(answer, '200').body.data) {
      outcomes.push(error ? `${outcome} ${error.metadata.reason}` : outcome)
      const file = Object.values(trial.files).find((each) => each.path === path)
      if (file && document) trial.documents.set(document.id, file)
    }
    if (outcomes.join(', ') === wanted) return `200: ${wanted}`
    throw new Error(`answered ${outcomes.join(', ') || 'nothing'}, not ${wanted}`)
  },
})

export async function promoteWhenThere(trial: Trial, signal: AbortSignal): Promise<string> {
  const { late } = trial
  const headers = { prefer: 'wait=5', 'file-bytes': `${late.bytes.length}` }
  const waiting = promote(late, { headers, wanted: { 'preference-applied': 'wait=5' } }, trial, signal)
  // If it fails, the file comes all the same, and not after it was to be removed.
  waiting.catch(() => {})
  await sleep(LATE_MS)
  await putFile(late, trial, signal)
  await waiting
  return '200, though it came later'
}

export async function promoteTwice(trial: Trial, signal: AbortSignal): Promise<string> {
  const headers = { 'idempotency-key': `smoke-${randomUUID()}` }
  const first = await promote(trial.files.small, { headers }, trial, signal)
  const wanted = { 'idempotency-replayed': 'true' }
  const second = await promote(trial.files.small, { headers, wanted }, trial, signal)
  if (first.body.id === second.body.id) return '200 twice, one document'
  throw new Error(`the repetition made ${second.body.id} beside ${first.body.id}`)
}

/** No promotion may ask for less than an hour: then the end is brought forward, as `documents expire` does. */
export async function letExpire(trial: Trial, signal: AbortSignal): Promise<string> {
  const { documents } = trial.stores
  const exchange = { headers: { 'file-expires-in': '3600' }, wanted: { 'file-expires-in': '3600;by=request' } }
  const { body } = await promote(trial.files.small, exchange, trial, signal)
  trial.documents.delete(body.id)
  const document = await documents.find({ workspaceId: trial.workspaceId, documentId: body.id }, signal)
  const expiresAt = expiresAtOf(new Date(), 1)
  const isSet = document?.state === 'ready' && (await documents.setExpiry(document, expiresAt, signal))
  if (!isSet) throw new Error(`the expiry of ${body.id} cannot be changed`)
  trial.expiring = { ...document, expiresAt }
  return 'in an hour, then in a second'
}

export async function expectExpired(trial: Trial, signal: AbortSignal): Promise<string> {
  const { workspaceId, documentId, expiresAt } = trial.expiring ?? {}
  if (!workspaceId || !documentId || !expiresAt) throw new Error('there is no document that expires')
  const isFreed = async () => {
    const found = await trial.stores.documents.find({ workspaceId, documentId }, signal)
    return found?.state === 'gone'
  }
  const sinceMs = () => Date.now() - expiresAt.getTime()
  await eventually(isFreed, 'it is counted two minutes after its end', signal, DELETED_WITHIN_MS - sinceMs())
  expectAnswer(await ask(`/files/${documentId}`, {}, trial, signal), '404 document_expired')
  return `404 document_expired, its bytes free within ${Math.round(sinceMs() / 1000)} s`
}
