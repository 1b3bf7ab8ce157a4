import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import { createConcurrencyLimit } from './concurrency-limit.ts'

interface Tasks {
  count: number
  concurrency: number
  /** Whether a failure means that too many tasks ran at once. Then fewer do, and the task is run again. */
  isOverload: (error: unknown) => boolean
}

/** Before a refused task is run again, in addition to its own retries. */
const PAUSE_MS = 100

/**
 * Runs tasks, numbered from 1, some at a time. When one fails, the others are aborted, and all have ended before the
 * failure is thrown: nothing is still running when the caller cleans up.
 *
 * @returns the results in the order of their numbers
 * @throws the first failure; ServiceError promotion_timed_out when the signal aborted
 */
export async function inParallel<Result>(
  { count, concurrency, isOverload }: Tasks,
  work: (number: number, signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result[]> {
  const failed = new AbortController()
  const anySignal = AbortSignal.any([signal, failed.signal])
  const results: Result[] = []
  const refused: number[] = []
  const limit = createConcurrencyLimit(Math.min(count, concurrency))
  const workers: Promise<void>[] = []
  let next = 1
  let working = 0
  let firstFailure: { error: unknown } | undefined

  const takeNumber = () => refused.pop() ?? (next <= count ? next++ : undefined)
  const spawn = () => {
    // Without the check for an abort, a task that succeeds after another has failed would spawn workers for ever.
    while (!anySignal.aborted && working < limit.current() && (refused.length > 0 || next <= count)) {
      working++
      workers.push(workUntilDone())
    }
  }
  const workUntilDone = async () => {
    while (!anySignal.aborted && working <= limit.current()) {
      const number = takeNumber()
      if (number === undefined) break
      const round = limit.round()
      try {
        results[number - 1] = await work(number, anySignal)
        limit.succeeded()
        spawn()
      } catch (error) {
        if (anySignal.aborted || !isOverload(error) || !limit.slowDown(round)) {
          firstFailure ??= { error }
          failed.abort()
          break
        }
        refused.push(number)
        await sleep(PAUSE_MS * (1 + Math.random()), undefined, { signal: anySignal }).catch(() => {})
      }
    }
    working--
  }
  spawn()
  // The array grows during the loop: refused tasks add workers.
  for (const worker of workers) await worker
  if (firstFailure !== undefined) throw firstFailure.error
  if (signal.aborted) throw new ServiceError('promotion_timed_out', { cause: signal.reason })
  return results
}
