import { channel } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Command, MetadataBearer } from '@smithy/types'
import { ServiceError } from '../../errors.ts'
import { isClockSkew, isOutage, isThrottled, isUnanswered, named, statusOf, wasNeverConnected } from './failures.ts'

/** For writes that open: only a throttled one is repeated (docs/reliability.md, "What opens is sent once"). */
export const SENT_ONCE = { tries: 1 } as const
/** For writes that close: they are repeated as long as the request lives. */
export const CLOSING = { retryForMs: 60_000 } as const

export interface SendOptions {
  /** By port and method, such as `ledger.hold`, or S3's operation. Logged when the call fails. */
  name: string
  /** Aborts the call, and the pauses between its tries. */
  signal: AbortSignal
  /**
   * A try without an answer may still take effect, so it is the last. After one that S3 answered with 5xx, an object
   * may appear, too: `isUnanswered` says so, whatever came of later tries.
   */
  startsCopy?: boolean
  /** For failures other than throttling. */
  tries?: number
  /** How long to repeat a throttled call, which certainly was not applied. */
  retryForMs?: number
  longestPauseMs?: number
  /** For one try. Left out: the client's own. */
  requestTimeoutMs?: number
}

interface RetryOptions<Sent> {
  /** The command to send after a failure that is to be retried like throttling; undefined: treat it like any other. */
  retryOf?(error: unknown): Promise<{ command: Sent; isAtOnce: boolean } | undefined>
}

export interface AwsCallMessage {
  name: string
  /** The SDK's: middlewares may be added to it. */
  command: object
}

/** Gets each command before it is sent, for tracing. Costs nothing while nobody listens. */
const CALLS = channel('container-file-promotion:aws-call')

const TRIES = 3
const RETRY_THROTTLED_FOR_MS = 1000
const FIRST_PAUSE_MS = 15
const LONGEST_PAUSE_MS = 400

/**
 * Sends one command, and repeats it where that is safe and useful. The clients' own retries are off (clients.ts): they
 * would repeat a write whose answer was lost. Aborts and stores in trouble become ServiceError; anything else
 * (AccessDenied, for one) is rethrown as it is and becomes a 500 unless the calling adapter handles it.
 * @throws ServiceError service_unavailable, request_timed_out
 */
export async function send<
  ClientInput extends object,
  ClientOutput extends MetadataBearer,
  Config,
  Input extends ClientInput,
  Output extends ClientOutput,
>(
  client: Client<ClientInput, ClientOutput, Config>,
  first: Command<ClientInput, Input, ClientOutput, Output, Config>,
  options: SendOptions & RetryOptions<Command<ClientInput, Input, ClientOutput, Output, Config>>,
): Promise<Output> {
  const { name, signal, startsCopy = false, retryForMs = RETRY_THROTTLED_FOR_MS, requestTimeoutMs } = options
  if (signal.aborted) throw new ServiceError('request_timed_out', { cause: signal.reason })
  const retryUntilMs = performance.now() + retryForMs
  const timeout = requestTimeoutMs !== undefined && { requestTimeout: requestTimeoutMs }
  let command = announced(first, name)
  let mayBeLate = false
  for (let sent = 1, failures = 0; ; sent++) {
    try {
      return await client.send(command, { abortSignal: signal, ...timeout })
    } catch (error) {
      const retry = await options.retryOf?.(error)
      if (retry && retry.command !== command) command = announced(retry.command, name)
      if (retry?.isAtOnce) continue

      const pauseMs = pauseAfter(sent, options.longestPauseMs)
      mayBeLate ||= startsCopy && (isUnanswered(error) || (statusOf(error) ?? 0) >= 500)
      const isWorthAnother =
        retry || isThrottled(error)
          ? performance.now() + pauseMs < retryUntilMs
          : isPassing(error, options) && ++failures < (wasNeverConnected(error) ? TRIES : (options.tries ?? TRIES))
      if (!isWorthAnother || signal.aborted || !(await pause(pauseMs, signal))) {
        throw translateFailure(named(error, name), { signal, mayBeLate })
      }
    }
  }
}

function announced<Sent extends object>(command: Sent, name: string): Sent {
  if (CALLS.hasSubscribers) CALLS.publish({ name, command } satisfies AwsCallMessage)
  return command
}

/** Whether another try may succeed and does no harm. */
function isPassing(error: unknown, { startsCopy }: SendOptions): boolean {
  return (isOutage(error) || isClockSkew(error)) && !(startsCopy && isUnanswered(error))
}

/** Exponential, with jitter in the upper half, so that calls throttled together do not come back together. */
export function pauseAfter(sent: number, mostMs = LONGEST_PAUSE_MS): number {
  const longestMs = Math.min(mostMs, FIRST_PAUSE_MS * 2 ** sent)
  return longestMs * (0.5 + Math.random() / 2)
}

/** @returns false when the signal aborted meanwhile */
export async function pause(durationMs: number, signal: AbortSignal): Promise<boolean> {
  return sleep(durationMs, true, { signal }).catch(() => false)
}

/** @param mayBeLate a copy, which S3 may still be at work on after any of the failures, the last or an earlier one */
function translateFailure(error: unknown, { signal, mayBeLate }: { signal: AbortSignal; mayBeLate: boolean }): unknown {
  const isAbort = error instanceof Error && error.name === 'AbortError'
  // An abort while the body is read looks like a broken connection.
  if (signal.aborted && (isAbort || (isOutage(error) && isUnanswered(error)))) {
    return new ServiceError('request_timed_out', { cause: error, isUnanswered: true })
  }
  const isUnavailable = isOutage(error) || isThrottled(error)
  if (!isUnavailable && !mayBeLate) return error
  return new ServiceError(isUnavailable ? 'service_unavailable' : 'internal_error', {
    cause: error,
    isUnanswered: mayBeLate || isUnanswered(error),
  })
}
