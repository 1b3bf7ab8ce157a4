import { channel } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { isClockSkewCorrectedError, isClockSkewError, isThrottlingError, isTransientError } from '@smithy/core/retry'
import type { Client, Command, MetadataBearer, SdkError } from '@smithy/types'
import { ServiceError } from '../errors.ts'
import { turnOf } from '../one-call-until.ts'

/**
 * For writes that open something: bytes taken, a reservation, a document. One that may have taken effect is never
 * repeated; one that was throttled certainly has not (docs/reliability.md, "What opens is sent once").
 */
export const OPENING = { tries: 1 } as const

export interface SendOptions {
  /** By port and method, such as `ledger.take`, or S3's operation. Logged when the call fails. */
  name: string
  /** Aborts the call, and the pauses between its tries. */
  signal: AbortSignal
  /**
   * The call starts a copy. A try without an answer may still take effect, so it is the last. After one that S3 answered
   * with 5xx, an object may appear, too: `isUnanswered` says so, whatever came of later tries.
   */
  opens?: boolean
  /** For failures other than throttling. */
  tries?: number
  /** How long to repeat a throttled call, which certainly was not applied. */
  patienceMs?: number
  /** Between two tries. */
  longestPauseMs?: number
  /** For one try. Left out: the client's own. */
  requestTimeoutMs?: number
}

export interface AwsCallMessage {
  name: string
  /** The SDK's: middlewares may be added to it. */
  command: object
}

/** Gets each call before it is sent, for tracing. Costs nothing while nobody listens. */
const CALLS = channel('container-file-promotion:aws-call')

const TRIES = 3
const SHORT_PATIENCE_MS = 1000
const FIRST_PAUSE_MS = 15
const LONGEST_PAUSE_MS = 400
/** Node.js's codes for broken connections that the SDK does not list: TLS errors, and answers that are not HTTP. */
const BROKEN_CONNECTION = /^(EPROTO|ECONNABORTED|HPE_\w+|ERR_(SSL|TLS)_\w+|ERR_STREAM_PREMATURE_CLOSE)$/
/** The SDK's message for a connection that was not established in time: all that tells it from a missing answer. */
const CONNECTION_TIMEOUT = /did not establish a connection/
/** System calls that fail before there is a connection: the store never saw the request. */
const BEFORE_CONNECTED = new Set(['connect', 'getaddrinfo'])

/**
 * Sends one command, and repeats it where that is safe and useful. The clients' own retries are off (clients.ts): they
 * would repeat a write whose answer was lost. Aborts and stores in trouble become ServiceError; anything else
 * (AccessDenied, for one) is rethrown as it is and becomes a 500 unless the calling adapter handles it.
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
    name,
    signal,
    opens = false,
    tries = TRIES,
    patienceMs = SHORT_PATIENCE_MS,
    longestPauseMs = LONGEST_PAUSE_MS,
    requestTimeoutMs,
  }: SendOptions,
): Promise<Output> {
  if (signal.aborted) throw new ServiceError('promotion_timed_out', { cause: signal.reason })
  if (CALLS.hasSubscribers) CALLS.publish({ name, command } satisfies AwsCallMessage)
  const impatientAtMs = performance.now() + patienceMs
  let mayArrive = false
  for (let sent = 1, failures = 0; ; sent++) {
    await turnOf(signal)
    try {
      return await client.send(command, {
        abortSignal: signal,
        ...(requestTimeoutMs !== undefined && { requestTimeout: requestTimeoutMs }),
      })
    } catch (error) {
      const pauseMs = pauseAfter(sent, longestPauseMs)
      mayArrive ||= opens && (isUnanswered(error) || isServerError(error))
      // A request that never left may always be repeated.
      const mostTries = wasNeverConnected(error) ? TRIES : tries
      const isWorthAnother = isThrottled(error)
        ? performance.now() + pauseMs < impatientAtMs
        : ++failures < mostTries && isPassing(error) && !(opens && isUnanswered(error))
      if (!isWorthAnother || signal.aborted || !(await pause(pauseMs, signal))) {
        throw translateFailure(named(error, name), { signal, mayArrive })
      }
    }
  }
}

/** Exponential, with jitter in the upper half, so that calls throttled together do not come back together. */
function pauseAfter(sent: number, mostMs: number): number {
  const longestMs = Math.min(mostMs, FIRST_PAUSE_MS * 2 ** sent)
  return longestMs * (0.5 + Math.random() / 2)
}

/** @returns false when the signal aborted meanwhile */
async function pause(durationMs: number, signal: AbortSignal): Promise<boolean> {
  return sleep(durationMs, true, { signal }).catch(() => false)
}

/** Says which call failed: the log shows all properties of an error. */
function named(error: unknown, call: string): unknown {
  return error instanceof Error ? Object.assign(error, { call }) : error
}

/** @param mayArrive a copy, which S3 may still be at work on after any of the failures, the last or an earlier one */
function translateFailure(error: unknown, { signal, mayArrive }: { signal: AbortSignal; mayArrive: boolean }): unknown {
  // An abort while the body is read looks like a broken connection.
  if (signal.aborted && (isAbort(error) || (isOutage(error) && isUnanswered(error)))) {
    return new ServiceError('promotion_timed_out', { cause: error, isUnanswered: true })
  }
  const isUnavailable = isOutage(error) || isThrottled(error)
  if (!isUnavailable && !mayArrive) return error
  return new ServiceError(isUnavailable ? 'service_unavailable' : 'internal_error', {
    cause: error,
    isUnanswered: mayArrive || isUnanswered(error),
  })
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/** Whether the store refused the call because of its load. */
export function isThrottled(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error
  return cause instanceof Error && isThrottlingError(cause as SdkError)
}

/** Whether another try may succeed. */
function isPassing(error: unknown): boolean {
  return isOutage(error) || isMistimed(error)
}

/** Whether the store is in trouble or out of reach: the SDK's own tests, and what these leave out. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const status = statusOf(error)
  if (status === undefined) return isTransientError(error as SdkError) || BROKEN_CONNECTION.test(codeOf(error))
  // When the clock was off, the SDK's tests take any refusal for the one that corrected it.
  const isRefusal = status >= 300 && status < 500
  // An answer of success that still throws was cut off, or cannot be read.
  return !isRefusal || error.name === 'RequestTimeout'
}

/**
 * Whether the call was refused because of its signature's time. Either the SDK has corrected its clock by the answer
 * (HeadObject's has only a status, no name), or the process was held up between signing and sending.
 */
function isMistimed(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'RequestTimeTooSkewed' || error.message.startsWith('Signature expired')) return true
  const isRefusal = isClockSkewError(error as SdkError) || statusOf(error) === 403
  return isRefusal && isClockSkewCorrectedError(error as SdkError) === true
}

/** Whether the store may still be at work: there was no status, or one of success with a body that was cut off. */
function isUnanswered(error: unknown): boolean {
  const status = statusOf(error)
  return (status === undefined || status < 300) && !wasNeverConnected(error)
}

function isServerError(error: unknown): boolean {
  return (statusOf(error) ?? 0) >= 500
}

function wasNeverConnected(error: unknown): boolean {
  const { syscall, errors, message } = error as { syscall?: string; errors?: unknown[]; message?: string }
  if (message !== undefined && CONNECTION_TIMEOUT.test(message)) return true
  // A host with several addresses fails with one error for each.
  return errors ? errors.every(wasNeverConnected) : BEFORE_CONNECTED.has(syscall ?? '')
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code)
}

/** The HTTP status of AWS's answer, if there was one: all that HeadObject's errors have, as they have no body. */
export function statusOf(error: unknown): number | undefined {
  return (error as Partial<SdkError> | undefined)?.$metadata?.httpStatusCode
}
