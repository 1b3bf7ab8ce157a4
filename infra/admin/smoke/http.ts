import { formatFileId } from '../../../lib/ids.ts'
import { type SmokeContext, SmokeProblem } from './context.ts'
import type { TrialFile } from './trial.ts'

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: whatever is answered is looked at
  body: any
}

interface Question {
  method?: string
  /** null: none. Left out: the key of the run. */
  token?: string | null
  headers?: Record<string, string>
}

/** @param path below the base URL */
export async function ask(
  path: string,
  { method = 'GET', token, headers = {} }: Question,
  context: SmokeContext,
  signal: AbortSignal,
): Promise<Answer> {
  const authorization = token === null ? {} : { authorization: `Bearer ${token ?? context.token}` }
  const response = await fetch(`${context.baseUrl}${path}`, {
    method,
    headers: { ...authorization, ...headers },
    signal,
  })
  const text = await response.text()
  const body = /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text
  return { status: response.status, headers: response.headers, body }
}

/** @throws SmokeProblem when the answer has another status or reason */
export function expectAnswer({ status, body }: Answer, wantedStatus: number, wantedReason?: string): void {
  const reason = body?.error?.metadata?.reason
  if (status === wantedStatus && (wantedReason === undefined || reason === wantedReason)) return
  const wanted = wantedReason === undefined ? `${wantedStatus}` : `${wantedStatus} ${wantedReason}`
  const detail = body?.error?.metadata?.detail ?? (typeof body === 'string' ? body.slice(0, 200) : '')
  throw new SmokeProblem(`answered ${status}${reason ? ` ${reason}` : ''}, not ${wanted}. ${detail}`.trim())
}

export function promotePath(file: Pick<TrialFile, 'path'>, { containerId }: Pick<SmokeContext, 'containerId'>): string {
  return `/containers/${containerId}/files/${formatFileId(file.path)}/promote`
}

/** Promotes a file and notes the document. */
export async function promote(
  file: TrialFile,
  context: SmokeContext,
  signal: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const question = { method: 'POST', headers: { 'file-shape': 'native', ...headers } }
  const answer = await ask(promotePath(file, context), question, context, signal)
  if (answer.status === 200) {
    context.documents.set(answer.body.id, file)
    context.requestIds.push(answer.headers.get('x-request-id') ?? '')
  }
  return answer
}
