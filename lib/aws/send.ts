import { channel } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  isClockSkewCorrectedError,
  isClockSkewError,
  isServerError,
  isThrottlingError,
  isTransientError,
} from '@smithy/core/retry'
import type { Client, Command, MetadataBearer, SdkError } from '@smithy/types'
import { ServiceError } from '../errors.ts'

/**
 * For writes that open something: bytes taken, a reservation, a document. One that may have taken effect is never sent
 * again; one that was throttled certainly has not (docs/reliability.md, "What opens is sent once").
 */
export const OPENING = { tries: 1 } as const

export interface SendOptions {
  /** What the call does, by port and method, as `ledger.take`; of S3, its operation. Logged when it fails. */
  name: string
  /** Aborts the call and the waiting between its tries. */
  signal: AbortSignal
  /**
   * The call starts a copy: a try of it that was never answered may still arrive, so none is sent after it. One that was
   * answered with an error is no longer at work.
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

/** Message of {@link CALLS}. */
export interface AwsCallMessage {
  name: string
  /** Of the SDK: its middlewares may be added to. */
  command: object
}

/** Told of each call before it is sent, for tracing. Costs nothing as long as nobody listens. */
const CALLS = channel('container-file-promotion:aws-call')

const TRIES = 3
const SHORT_PATIENCE_MS = 1000
const FIRST_PAUSE_MS = 15
const LONGEST_PAUSE_MS = 400
/** What Node.js reports of connections that broke in ways the SDK does not list: TLS, and answers that are no HTTP. */
const BROKEN_CONNECTION = /^(EPROTO|ECONNABORTED|HPE_\w+|ERR_(SSL|TLS)_\w+|ERR_STREAM_PREMATURE_CLOSE)$/
/** What the SDK says of a connection that did not come about in time; nothing else tells it from an answer that did not. */
const CONNECTION_TIMEOUT = /did not establish a connection/
/** A system call that failed before there was a connection: the store never saw the request. */
const BEFORE_CONNECTED = new Set(['connect', 'getaddrinfo'])

/**
 * Sends one command, and repeats it where that is safe and useful. The clients' own retries are off (clients.ts): they
 * would repeat a write whose answer was lost. Aborts and stores in trouble become ServiceError; anything else
 * (AccessDenied, for one) is rethrown as it is and becomes a 500 unless the calling adapter knows it.
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
  for (let sent = 1, failures = 0; ; sent++) {
    try {
      return await client.send(command, {
        abortSignal: signal,
        ...(requestTimeoutMs !== undefined && { requestTimeout: requestTimeoutMs }),
      })
    } catch (error) {
      const pauseMs = pauseAfter(sent, longestPauseMs)
      // A request that never left may always be sent again.
      const mostTries = wasNeverConnected(error) ? TRIES : tries
      const isWorthAnother = isThrottled(error)
        ? performance.now() + pauseMs < impatientAtMs
        : ++failures < mostTries && isPassing(error) && !(opens && isUnanswered(error))
      if (!isWorthAnother || signal.aborted || !(await pause(pauseMs, signal))) {
        throw translateFailure(named(error, name), { signal, opens })
      }
    }
  }
}

/** Exponential, with jitter over the upper half, so that many that were throttled together do not come back together. */
function pauseAfter(sent: number, mostMs: number): number {
  const longestMs = Math.min(mostMs, FIRST_PAUSE_MS * 2 ** sent)
  return longestMs * (0.5 + Math.random() / 2)
}

/** @returns false when the signal aborted meanwhile */
async function pause(durationMs: number, signal: AbortSignal): Promise<boolean> {
  return sleep(durationMs, true, { signal }).catch(() => false)
}

/** The log shows all properties of an error, so this says which call failed. */
function named(error: unknown, call: string): unknown {
  return error instanceof Error ? Object.assign(error, { call }) : error
}

function translateFailure(error: unknown, { signal, opens }: { signal: AbortSignal; opens: boolean }): unknown {
  // An abort while the body is read shows as a broken connection.
  if (signal.aborted && (isAbort(error) || (isOutage(error) && isUnanswered(error)))) {
    return new ServiceError('promotion_timed_out', { cause: error, isUnanswered: true })
  }
  const isUnavailable = isOutage(error) || isThrottled(error)
  // Whatever the error: the write may have been applied.
  const isOpenInDoubt = opens && isUnanswered(error)
  if (!isUnavailable && !isOpenInDoubt) return error
  return new ServiceError(isUnavailable ? 'service_unavailable' : 'internal_error', {
    cause: error,
    isUnanswered: isUnanswered(error),
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

/** Whether the store is in trouble, or cannot be reached: the SDK's own tests, and what they leave out. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const status = statusOf(error)
  // With a clock that is off, the SDK's tests take every refusal for one by which it has set it.
  if (status !== undefined && status >= 300 && status < 500) return error.name === 'RequestTimeout'
  // An answer of success that threw all the same broke off, or cannot be read.
  if (status !== undefined && status < 300) return true
  return (
    isServerError(error as SdkError) || isTransientError(error as SdkError) || BROKEN_CONNECTION.test(codeOf(error))
  )
}

/**
 * Whether the call was refused for the time of its signature. The SDK has set its clock by the answer (HeadObject's has
 * no name, only a status), or the process was held up between signing and sending.
 */
function isMistimed(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'RequestTimeTooSkewed' || error.message.startsWith('Signature expired')) return true
  const isRefusal = isClockSkewError(error as SdkError) || statusOf(error) === 403
  return isRefusal && isClockSkewCorrectedError(error as SdkError) === true
}

/** Whether the store may still be at work on the call: no status came back, or one of success with a body that broke off. */
function isUnanswered(error: unknown): boolean {
  const status = statusOf(error)
  return (status === undefined || status < 300) && !wasNeverConnected(error)
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

/** The HTTP status AWS answered with, if it answered. HeadObject's errors have no other name (they have no body). */
export function statusOf(error: unknown): number | undefined {
  return (error as Partial<SdkError> | undefined)?.$metadata?.httpStatusCode
}
