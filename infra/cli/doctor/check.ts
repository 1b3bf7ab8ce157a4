import { explainFailure } from '../explain-failure.ts'
import { type Cell, counted } from '../terminal/output.ts'

/** `advice`: it works, but could be better. `not_checked`: nothing is known; the detail says why. */
export type Verdict = keyof typeof VERDICTS

export const VERDICTS = {
  ok: { text: 'ok', colour: 'green' },
  advice: { text: 'advice', colour: 'yellow' },
  problem: { text: 'PROBLEM', colour: 'red' },
  not_checked: { text: 'not checked', colour: 'dim' },
} satisfies Record<string, Cell>

export interface Check {
  name: string
  /** @returns what was seen, which counts as ok unless it says otherwise; a failure is a problem */
  run(signal: AbortSignal): Promise<string | { verdict: Verdict; detail: string }>
}

export type CheckResult = { check: string; verdict: Verdict; detail: string }

export const problem = (detail: string) => ({ verdict: 'problem', detail }) as const
export const advice = (detail: string) => ({ verdict: 'advice', detail }) as const
export const notChecked = (detail: string) => ({ verdict: 'not_checked', detail }) as const

export const problemsFound = (count: number) =>
  count === 0 ? 'No problem was found' : `${counted(count, 'problem')} found`

/** Never throws: a failed check must not prevent the others. */
export async function runCheck({ name: check, run }: Check, timeoutMs: number, signal: AbortSignal) {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const seen = await run(AbortSignal.any([signal, timeout]))
    return { check, ...(typeof seen === 'string' ? ({ verdict: 'ok', detail: seen } as const) : seen) }
  } catch (error) {
    if (timeout.aborted) return { check, ...problem(`no answer within ${timeoutMs / 1000} s`) }
    // Errors of servers that implement part of the protocol.
    const isUnknown = isNamed(error, /^(NotImplemented|UnknownOperationException|MethodNotAllowed)$/)
    if (isUnknown) return { check, ...notChecked('this server does not support the query') }
    return { check, ...problem(explainFailure(error).message) }
  }
}

/** A check of a configuration that the service itself need not be allowed to read: a refusal is not a problem. */
export function setupCheck(name: string, action: string, run: Check['run']): Check {
  const unlessDenied = (error: unknown) => {
    if (!isDenied(error)) throw error
    return notChecked(`these credentials may not ask (${action})`)
  }
  return { name, run: (signal) => run(signal).catch(unlessDenied) }
}

export const isDenied = (error: unknown) => explainFailure(error).reason === 'access_denied'
export const isNamed = (error: unknown, names: RegExp) => error instanceof Error && names.test(error.name)
