import { setTimeout as sleep } from 'node:timers/promises'

export interface LoadPlan {
  /** Requests a second. */
  rate: number
  durationMs: number
  /** The full URL to post to. */
  url: string
  /** Used in turns. */
  tokens: readonly string[]
}

export interface LoadResult {
  sent: number
  durationMs: number
  /** From the beginning of the request to the end of the answer, whatever its status; undefined when there was none. */
  latencyMs: { p50: number; p90: number; p99: number; max: number } | undefined
  /** `200`, `429 rate_limited`, … → how many; `none`: the connection broke, or no answer came in time. */
  answers: Record<string, number>
  /** Requests that were not sent because too many were unanswered. */
  notSent: number
}

/** Longer than the gateway waits. */
const TIMEOUT_MS = 35_000
const MOST_UNANSWERED = 1000

/**
 * Sends promotions at a steady rate, whether or not earlier ones have been answered: a client that waits would take the
 * load off a slow service, and leave the slowest requests out of its percentiles ("coordinated omission").
 * @param onSecond is told how many were answered so far
 */
export async function generateLoad(
  { rate, durationMs, url, tokens }: LoadPlan,
  onSecond: (answered: number) => void,
  signal: AbortSignal,
): Promise<LoadResult> {
  const count = Math.max(1, Math.round((rate * durationMs) / 1000))
  const latencies: number[] = []
  const answers: Record<string, number> = {}
  const unanswered = new Set<Promise<void>>()
  let notSent = 0
  const sendOne = async (number: number) => {
    const startedAtMs = performance.now()
    const answer = await promote(url, tokens[number % tokens.length] ?? '')
    answers[answer] = (answers[answer] ?? 0) + 1
    if (answer !== 'none') latencies.push(performance.now() - startedAtMs)
  }
  const startedAtMs = performance.now()
  for (let number = 0; number < count && !signal.aborted; number++) {
    const waitMs = startedAtMs + (number * 1000) / rate - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    if (number % rate === 0) onSecond(number - notSent - unanswered.size)
    if (unanswered.size >= MOST_UNANSWERED) {
      notSent++
      continue
    }
    const sending = sendOne(number).finally(() => unanswered.delete(sending))
    unanswered.add(sending)
  }
  const sendingMs = Math.round(performance.now() - startedAtMs)
  // Waits after Ctrl-C, too: otherwise requests could arrive after the cleanup.
  await Promise.all(unanswered)
  const sent = Object.values(answers).reduce((sum, each) => sum + each, 0)
  return { sent, durationMs: sendingMs, latencyMs: percentiles(latencies), answers, notSent }
}

async function promote(url: string, token: string): Promise<string> {
  try {
    const headers = { authorization: `Bearer ${token}`, 'file-shape': 'native' }
    const response = await fetch(url, { method: 'POST', headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
    const body = await response.text()
    return response.status === 200 ? '200' : `${response.status} ${reasonOf(body)}`.trim()
  } catch {
    return 'none'
  }
}

function reasonOf(body: string): string {
  try {
    return JSON.parse(body).error?.metadata?.reason ?? ''
  } catch {
    return ''
  }
}

/** By nearest rank. */
function percentiles(latencies: number[]): LoadResult['latencyMs'] {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (percent: number) => Math.round(sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0)
  return sorted.length === 0 ? undefined : { p50: at(50), p90: at(90), p99: at(99), max: at(100) }
}
