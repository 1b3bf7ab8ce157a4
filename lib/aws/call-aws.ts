import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry'
import type { SdkError } from '@smithy/types'
import { ServiceError } from '../errors.ts'

/**
 * Makes the one call of `send` and turns its failures into ours: an aborted call, a store that does not answer, and a
 * store that throttles. Everything else, a refusal of our own role among it, passes untouched: what the calling adapter
 * does not know either becomes a 500.
 */
export async function callAws<Output>(signal: AbortSignal, send: () => Promise<Output>): Promise<Output> {
  try {
    return await send()
  } catch (error) {
    throw translateFailure(error, signal)
  }
}

/** The pages of a listing, with failures turned into ours like those of {@link callAws}. */
export async function* iterateAws<Page>(signal: AbortSignal, pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  try {
    yield* pages
  } catch (error) {
    throw translateFailure(error, signal)
  }
}

function translateFailure(error: unknown, signal: AbortSignal): unknown {
  if (!(error instanceof Error)) return error
  if (error.name === 'AbortError' && signal.aborted) {
    return new ServiceError('promotion_timed_out', { cause: error, isUnanswered: true })
  }
  const sdkError = error as SdkError
  // The very tests the SDK decides its own retries by: what is left here has already been tried again in vain.
  if (isThrottlingError(sdkError) || isTransientError(sdkError) || isServerError(sdkError)) {
    return new ServiceError('service_unavailable', { cause: error, isUnanswered: mayBeAtWork(sdkError) })
  }
  return error
}

/** Whether the store may still be at work on a call that failed: it never answered the last try, or perhaps an earlier one. */
function mayBeAtWork(error: SdkError): boolean {
  return statusOf(error) === undefined || wasRepeated(error)
}

/** Whether the SDK sent the call of this answer or error more than once. */
export function wasRepeated(answerOrError: object): boolean {
  const { $metadata } = answerOrError as { $metadata?: { attempts?: number | undefined } }
  return ($metadata?.attempts ?? 1) > 1
}

/** Whether the store refused a call because there were too many. */
export function wasThrottled(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error
  return cause instanceof Error && isThrottlingError(cause as SdkError)
}

/** The HTTP status AWS answered with, if it answered. HeadObject's errors have no other name (they have no body). */
export function statusOf(error: unknown): number | undefined {
  return (error as Partial<SdkError> | undefined)?.$metadata?.httpStatusCode
}
