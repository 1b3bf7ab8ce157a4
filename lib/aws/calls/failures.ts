import { isClockSkewCorrectedError, isClockSkewError, isThrottlingError, isTransientError } from '@smithy/core/retry'
import type { SdkError } from '@smithy/types'
import { ServiceError } from '../../errors.ts'

/** Node.js's codes for broken connections that the SDK does not list: TLS errors, and answers that are not HTTP. */
const BROKEN_CONNECTION = /^(EPROTO|ECONNABORTED|HPE_\w+|ERR_(SSL|TLS)_\w+|ERR_STREAM_PREMATURE_CLOSE)$/
/** The SDK's message for a connection that was not established in time; nothing else tells it from a missing answer. */
const CONNECTION_TIMEOUT = /did not establish a connection/
/** System calls that fail before there is a connection: the store never saw the request. */
const BEFORE_CONNECTED = new Set(['connect', 'getaddrinfo'])

/** The HTTP status of AWS's answer, if there was one: all that HeadObject's errors have, as they have no body. */
export const statusOf = (error: unknown) => (error as Partial<SdkError> | undefined)?.$metadata?.httpStatusCode

/** The Region that S3 names: all that an answer without a body (301) says about a bucket in another Region. */
export function bucketRegionOf(error: unknown): string | undefined {
  return (error as Partial<SdkError> | undefined)?.$response?.headers['x-amz-bucket-region']
}

/** Says which call failed, and where the bucket is: the log shows all properties of an error. */
export function named(error: unknown, call: string): unknown {
  return error instanceof Error ? Object.assign(error, { call, bucketRegion: bucketRegionOf(error) }) : error
}

/** Whether the store refused the call because of its load. */
export function isThrottled(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error
  return cause instanceof Error && isThrottlingError(cause as SdkError)
}

/** Whether the store is in trouble or out of reach, by the SDK's own tests and by what they leave out. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const status = statusOf(error)
  if (status === undefined) {
    return isTransientError(error as SdkError) || BROKEN_CONNECTION.test(String((error as { code?: unknown }).code))
  }
  // When the clock was off, the SDK's tests take any refusal for the one that corrected it.
  // 409 is S3's word for a conflict with another request (OperationAborted, ConditionalRequestConflict), which passes.
  const isRefusal = status >= 300 && status < 500 && status !== 409
  // An answer of success that still throws was cut off, or cannot be read.
  return !isRefusal || error.name === 'RequestTimeout'
}

/**
 * Whether the call was refused because of its signature's time. Either the SDK has corrected its clock by the answer
 * (HeadObject's has only a status, no name), or the process was delayed between signing and sending.
 */
export function isClockSkew(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'RequestTimeTooSkewed' || error.message.startsWith('Signature expired')) return true
  const isRefusal = isClockSkewError(error as SdkError) || statusOf(error) === 403
  return isRefusal && isClockSkewCorrectedError(error as SdkError) === true
}

/** Whether the store may still be at work: there was no status, or one of success with a body that was cut off. */
export function isUnanswered(error: unknown): boolean {
  const status = statusOf(error)
  return (status === undefined || status < 300) && !wasNeverConnected(error)
}

/** Whether the request never left: it may always be repeated. */
export function wasNeverConnected(error: unknown): boolean {
  const { syscall, errors, message } = error as { syscall?: string; errors?: unknown[]; message?: string }
  if (message !== undefined && CONNECTION_TIMEOUT.test(message)) return true
  // A host with several addresses fails with one error for each.
  return errors ? errors.every(wasNeverConnected) : BEFORE_CONNECTED.has(syscall ?? '')
}
