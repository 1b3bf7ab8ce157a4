import { type DocumentId, type FilePath, formatFileId } from '../../../lib/ids.ts'
import type { Trial, TrialFile } from './trial.ts'

type Answer = Awaited<ReturnType<typeof ask>>

/** Its token is null for none; left out, it is the key of the run. */
export type Question = { method?: string; body?: string; token?: string | null; headers?: Record<string, string> }

export async function ask(path: string, { token, headers, ...init }: Question, trial: Trial, signal: AbortSignal) {
  const authorization = token === null ? {} : { authorization: `Bearer ${token ?? trial.token}` }
  const request = { ...init, headers: { ...authorization, ...headers }, signal }
  const response = await fetch(`${trial.baseUrl}${path}`, request)
  const text = await response.text()
  const body = /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text
  return { status: response.status, headers: response.headers, body }
}

/** @param wanted status and, of a refusal, reason @returns the answer @throws Error when it has others */
export function expectAnswer(answer: Answer, wanted: string): Answer {
  const { status, body } = answer
  const { reason = '', detail = typeof body === 'string' ? body.slice(0, 200) : '' } = body?.error?.metadata ?? {}
  const found = `${status} ${reason}`.trim()
  if (found === wanted) return answer
  throw new Error(`answered ${found}, not ${wanted}. ${detail}`.trim())
}

export const filePath = (path: FilePath, { containerId }: Trial) =>
  `/containers/${containerId}/files/${formatFileId(path)}`
export const promotePath = (path: FilePath, trial: Trial) => `${filePath(path, trial)}/promote`

/** Headers of a promotion, and those that its answer must have. */
type Exchange = { headers: Record<string, string>; wanted?: Record<string, string> }

/** Promotes a file and notes the document. @throws Error unless the answer is 200 with the headers that are wanted */
export async function promote(file: TrialFile, { headers, wanted = {} }: Exchange, trial: Trial, signal: AbortSignal) {
  const question = { method: 'POST', headers: { 'file-shape': 'native', ...headers } }
  const answer = expectAnswer(await ask(promotePath(file.path, trial), question, trial, signal), '200')
  trial.documents.set(answer.body.id as DocumentId, file)
  trial.requestId = answer.headers.get('x-request-id') ?? ''
  for (const [name, value] of Object.entries(wanted)) {
    const found = answer.headers.get(name) ?? '(none)'
    if (found !== value) throw new Error(`answered ${name}: ${found}, not ${value}`)
  }
  return answer
}
