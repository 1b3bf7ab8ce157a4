import { describe, expect, it, vi } from 'vitest'
import { clearingUp } from '../../infra/admin/clearing-up.ts'
import { CommandError } from '../../infra/admin/command-error.ts'

const failure = new CommandError('not_reached', 'The stage does not answer.')
const fails = () => Promise.reject(failure)

describe('clearingUp', () => {
  it.each([[[]], [['table a', 'table b']]])('returns the result of the work, and what is left: %j', async (left) => {
    const steps: string[] = []
    const work = async () => {
      steps.push('work')
      return { count: 7 }
    }
    const clear = async () => {
      steps.push('clear')
      return left
    }
    expect(await clearingUp(work, clear)).toEqual({ count: 7, left })
    expect(steps).toEqual(['work', 'clear'])
  })

  it('clears after work that failed, and throws its error when nothing is left', async () => {
    const clear = vi.fn(async () => [])
    await expect(clearingUp(fails, clear)).rejects.toBe(failure)
    expect(clear).toHaveBeenCalledTimes(1)
  })

  it('says what failed and what is left when both went wrong, and keeps the cause', async () => {
    const error = await clearingUp(fails, async () => ['table a', 'table b']).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(CommandError)
    expect(error).toMatchObject({
      reason: 'left_behind',
      message: 'The stage does not answer. Left behind: table a; table b',
      cause: failure,
    })
  })
})
