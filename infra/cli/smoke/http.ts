import { type DocumentId, type FilePath, formatFileId } from '../../../lib/ids.ts'
import type { Trial, TrialFile } from './trial.ts'

type Answer = Awaited<ReturnType<typeof ask>>

interface Question {
  method?: string
  /** null: none. Left out: the key of the run. */
  token?: string | null
  headers?: Record<string, string>
}

export async function ask(
  path: string,
  { method = 'GET', token, headers = {} }: Question,
  trial: Trial,
  signal: AbortSignal,
) {
  const authorization = token === null ? {} : { authorization: `Bearer ${token ?? trial.token}` }
  const init = { method, headers: { ...authorization, ...headers }, signal }
  const response = await fetch(`${trial.baseUrl}${path}`, init)
  const text = await response.text()
  const body = /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text
  return { status: response.status, headers: response.headers, body }
}

/** @throws Error when the answer has another status or reason */
export function expectAnswer({ status, body }: Answer, wantedStatus: number, wantedReason?: string): void {
  const { reason, detail = typeof body === 'string' ? body.slice(0, 200) : '' } = body?.error?.metadata ?? {}
  if (status === wantedStatus && (wantedReason === undefined || reason === wantedReason)) return
  const wanted = wantedReason === undefined ? `${wantedStatus}` : `${wantedStatus} ${wantedReason}`
  throw new Error(`answered ${status}${reason ? ` ${reason}` : ''}, not ${wanted}. ${detail}`.trim())
}

export function promotePath(path: FilePath, { containerId }: Trial): string {
  return `/containers/${containerId}/files/${formatFileId(path)}/promote`
}

/** Promotes a file and notes the document. */
export async function promote(
  file: TrialFile,
  trial: Trial,
  signal: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const question = { method: 'POST', headers: { 'file-shape': 'native', ...headers } }
  const answer = await ask(promotePath(file.path, trial), question, trial, signal)
  if (answer.status === 200) {
    trial.documents.set(answer.body.id as DocumentId, file)
    trial.requestIds.push(answer.headers.get('x-request-id') ?? '')
  }
  return answer
}
