import { CommandError } from './command-error.ts'
import { describeFailure } from './describe-failure.ts'

/**
 * Does some work, and removes what was made for it, also when it fails.
 * @param clear removes what there is, and goes on when something cannot be removed; returns what is left, one line each
 * @throws CommandError naming what is left, when the work failed and not everything could be removed
 */
export async function clearingUp<Result extends object>(
  work: () => Promise<Result>,
  clear: () => Promise<string[]>,
): Promise<Result & { left: string[] }> {
  let result: Result
  try {
    result = await work()
  } catch (error) {
    const left = await clear()
    if (left.length === 0) throw error
    const message = `${describeFailure(error).message} Left behind: ${left.join('; ')}`
    throw new CommandError('left_behind', message, { cause: error })
  }
  return { ...result, left: await clear() }
}
