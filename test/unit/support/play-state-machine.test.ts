import { describe, expect, it } from 'vitest'
import { type Definition, play, type Stage } from '../../support/state-machine/play.ts'

const named = (name: string) => Object.assign(new Error(`it was ${name}`), { name })

/** A task each of whose tries does what the list says next: throws an error, or answers. */
function stageOf(tries: unknown[]) {
  const pauses: number[] = []
  const stage: Stage = {
    perform: async () => {
      const next = tries.shift()
      if (next instanceof Error) throw next
      return next
    },
    context: { Execution: { Name: 'round-1' } },
    signal: new AbortController().signal,
    pause: async (durationMs) => void pauses.push(durationMs / 1000),
  }
  return { stage, pauses }
}

const oneState = (state: object): Definition => ({ StartAt: 'A', States: { A: state as never } })
const oneTask = (fields: object): Definition => ({
  StartAt: 'Task',
  States: { Task: { Type: 'Task', Resource: 'r', End: true, ...fields }, Caught: { Type: 'Succeed' } },
})

describe('a state machine that is played', () => {
  it('tries again by the first rule that applies, each as often as it says, with pauses that grow up to a limit', async () => {
    const Retry = [
      { ErrorEquals: ['Busy'], IntervalSeconds: 2, BackoffRate: 3, MaxDelaySeconds: 10, MaxAttempts: 3 },
      { ErrorEquals: ['States.ALL'], IntervalSeconds: 1, MaxAttempts: 1 },
    ]
    const tries = ['Busy', 'Busy', 'Other', 'Busy'].map(named)
    const { stage, pauses } = stageOf([...tries, 'done'])
    expect(await play(oneTask({ Retry }), {}, stage)).toBe('done')
    expect(pauses).toEqual([2, 6, 1, 10])
    await expect(play(oneTask({ Retry }), {}, stageOf([named('Other'), named('Other')]).stage)).rejects.toThrow(
      'it was Other',
    )
  })

  it.each<[string, Definition, string]>([
    ['a state that is not there', { StartAt: 'X', States: {} }, 'there is no state X'],
    ['another type', oneState({ Type: 'Parallel' }), 'A: Parallel is not known'],
    ['another field', oneTask({ HeartbeatSeconds: 1 }), 'Task: the field HeartbeatSeconds is not known'],
    ['another path', oneTask({ Parameters: { 'a.$': '$.b[0]' } }), 'the path $.b[0] is not known'],
    ['a path to nothing', oneTask({ Parameters: { 'a.$': '$.b' } }), 'there is nothing at $.b'],
    [
      'another choice',
      oneState({ Type: 'Choice', Choices: [{ Variable: '$', IsNull: true, Next: 'A' }] }),
      'not known',
    ],
    ['another map', oneState({ Type: 'Map', ItemProcessor: oneTask({}) }), 'only distributed'],
  ])('fails at %s', async (_, definition, message) => {
    await expect(play(definition, {}, stageOf([]).stage)).rejects.toThrow(message)
  })
})
