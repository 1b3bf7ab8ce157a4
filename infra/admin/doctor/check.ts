import { describeFailure } from '../describe-failure.ts'

/** `advice`: it works, and could be better. `not_checked`: nothing is known; the detail says why. */
export type Verdict = 'ok' | 'advice' | 'problem' | 'not_checked'

export interface Check {
  name: string
  /** @returns what was seen, which counts as ok unless it says otherwise; a failure is a problem */
  look(signal: AbortSignal): Promise<string | { verdict: Verdict; detail: string }>
}

export interface CheckResult {
  check: string
  verdict: Verdict
  /** What was seen, and what to do about it. */
  detail: string
}

export const problem = (detail: string) => ({ verdict: 'problem', detail }) as const
export const advice = (detail: string) => ({ verdict: 'advice', detail }) as const
export const notChecked = (detail: string) => ({ verdict: 'not_checked', detail }) as const

export function problemsFound(count: number): string {
  if (count === 0) return 'No problem was found'
  return count === 1 ? '1 problem was found' : `${count} problems were found`
}

/** The S3 client sets no limit of its own: a copy may take long. */
const CHECK_TIMEOUT_MS = 10_000

/** Never throws: a failed check must not prevent the others. */
export async function runCheck({ name, look }: Check, signal: AbortSignal): Promise<CheckResult> {
  const timeout = AbortSignal.timeout(CHECK_TIMEOUT_MS)
  try {
    const seen = await look(AbortSignal.any([signal, timeout]))
    return { check: name, ...(typeof seen === 'string' ? { verdict: 'ok', detail: seen } : seen) }
  } catch (error) {
    if (timeout.aborted) return { check: name, ...problem(`no answer within ${CHECK_TIMEOUT_MS / 1000} s`) }
    if (isUnknownToServer(error)) return { check: name, ...notChecked('this server does not support the query') }
    return { check: name, ...problem(describeFailure(error).message) }
  }
}

/** A check of a configuration that the service itself need not be allowed to read: a refusal is not a problem. */
export function setupCheck(name: string, action: string, look: Check['look']): Check {
  return {
    name,
    async look(signal) {
      try {
        return await look(signal)
      } catch (error) {
        if (!isDenied(error)) throw error
        return notChecked(`these credentials may not ask (${action})`)
      }
    },
  }
}

export function isDenied(error: unknown): boolean {
  const { reason } = describeFailure(error)
  return reason === 'access_denied'
}

/** Error names of servers that implement part of the protocol. */
function isUnknownToServer(error: unknown): boolean {
  return error instanceof Error && /^(NotImplemented|UnknownOperationException|MethodNotAllowed)$/.test(error.name)
}
