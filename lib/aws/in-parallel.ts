import { ServiceError } from '../errors.ts'

/**
 * Does pieces of work, numbered from 1, some at once. When one fails the others are aborted, and all have ended before the
 * failure is thrown: nothing goes on behind the back of whoever cleans up.
 *
 * @param work is given the signal to abort by
 * @returns the results in the order of their numbers
 * @throws the first failure; ServiceError promotion_timed_out when the signal aborted
 */
export async function inParallel<Result>(
  { count, atOnce }: { count: number; atOnce: number },
  work: (number: number, signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result[]> {
  const failed = new AbortController()
  const anySignal = AbortSignal.any([signal, failed.signal])
  const results: Result[] = []
  let next = 1
  let firstFailure: { error: unknown } | undefined
  const worker = async () => {
    while (next <= count && !anySignal.aborted) {
      const number = next++
      try {
        results[number - 1] = await work(number, anySignal)
      } catch (error) {
        firstFailure ??= { error }
        failed.abort()
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(count, atOnce) }, worker))
  if (firstFailure !== undefined) throw firstFailure.error
  if (signal.aborted) throw new ServiceError('promotion_timed_out', { cause: signal.reason })
  return results
}
