import { setTimeout as sleep } from 'node:timers/promises'
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry'
import type { Client, Command, MetadataBearer, SdkError } from '@smithy/types'
import { ServiceError } from '../errors.ts'

export interface SendOptions {
  /** Aborts the call and the waiting between its tries. */
  signal: AbortSignal
  /**
   * The call opens something (takes bytes, records a document, starts a copy): a try of it that was never answered may
   * still arrive, so none is sent after it. Calls that close or read may be repeated (docs/reliability.md).
   */
  opens?: boolean
  /** Of a call that fails otherwise than by throttling. */
  tries?: number
  /** How long a call that is throttled is tried again; it was certainly not applied. */
  patienceMs?: number
  /** Between two tries. */
  longestPauseMs?: number
  /** For one try. Left out: the client's own. */
  requestTimeoutMs?: number
}

const TRIES = 3
const SHORT_PATIENCE_MS = 1000
const FIRST_PAUSE_MS = 15
const LONGEST_PAUSE_MS = 400
/** What Node.js reports of connections that broke in ways the SDK does not list: TLS, and answers that are no HTTP. */
const BROKEN_CONNECTION = /^(EPROTO|HPE_\w+|ERR_(SSL|TLS)_\w+|ERR_STREAM_PREMATURE_CLOSE)$/
/** No connection was made, so the store never saw the call. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'])

/**
 * Sends one command, again where that is safe and of use, and turns its failures into ours. The clients' own retries are
 * off (clients.ts): they would send a write again whose answer was lost. What is neither a store in trouble nor an abort,
 * a refusal of our own role among it, passes untouched: what the calling adapter does not know either becomes a 500.
 *
 * @throws ServiceError service_unavailable, promotion_timed_out
 */
export async function send<
  ClientInput extends object,
  ClientOutput extends MetadataBearer,
  Config,
  Input extends ClientInput,
  Output extends ClientOutput,
>(
  client: Client<ClientInput, ClientOutput, Config>,
  command: Command<ClientInput, Input, ClientOutput, Output, Config>,
  {
    signal,
    opens = false,
    tries = TRIES,
    patienceMs = SHORT_PATIENCE_MS,
    longestPauseMs = LONGEST_PAUSE_MS,
    requestTimeoutMs,
  }: SendOptions,
): Promise<Output> {
  const impatientAtMs = performance.now() + patienceMs
  for (let failures = 1; ; failures++) {
    try {
      return await client.send(command, {
        abortSignal: signal,
        ...(requestTimeoutMs !== undefined && { requestTimeout: requestTimeoutMs }),
      })
    } catch (error) {
      const pauseMs = pauseAfter(failures, longestPauseMs)
      const isWorthAnother = isThrottled(error)
        ? performance.now() + pauseMs < impatientAtMs
        : failures < tries && isOutage(error) && !(opens && isUnanswered(error))
      if (!isWorthAnother || signal.aborted || !(await pause(pauseMs, signal))) throw translateFailure(error, signal)
    }
  }
}

/** Exponential, with jitter over the upper half, so that many that were throttled together do not come back together. */
function pauseAfter(failures: number, mostMs: number): number {
  const longestMs = Math.min(mostMs, FIRST_PAUSE_MS * 2 ** failures)
  return longestMs * (0.5 + Math.random() / 2)
}

/** @returns false when the signal aborted meanwhile */
async function pause(durationMs: number, signal: AbortSignal): Promise<boolean> {
  return sleep(durationMs, true, { signal }).catch(() => false)
}

function translateFailure(error: unknown, signal: AbortSignal): unknown {
  if (!(error instanceof Error)) return error
  if (error.name === 'AbortError' && signal.aborted) {
    return new ServiceError('promotion_timed_out', { cause: error, isUnanswered: true })
  }
  if (!isOutage(error) && !isThrottled(error)) return error
  return new ServiceError('service_unavailable', { cause: error, isUnanswered: isUnanswered(error) })
}

/** Whether the store refused a call because there were too many. */
export function isThrottled(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error
  return cause instanceof Error && isThrottlingError(cause as SdkError)
}

/** Whether the store is in trouble, or cannot be reached: the SDK's own tests, and what they leave out. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    isServerError(error as SdkError) || isTransientError(error as SdkError) || BROKEN_CONNECTION.test(codeOf(error))
  )
}

/** Whether the store may still be at work on the call: no status came back, or one of success with a body that broke off. */
function isUnanswered(error: unknown): boolean {
  const status = statusOf(error)
  return (status === undefined || status < 300) && !NOT_CONNECTED.has(codeOf(error))
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code)
}

/** The HTTP status AWS answered with, if it answered. HeadObject's errors have no other name (they have no body). */
export function statusOf(error: unknown): number | undefined {
  return (error as Partial<SdkError> | undefined)?.$metadata?.httpStatusCode
}
