import { describe, expect, it } from 'vitest'
import { type Definition, play, type Stage } from '../../support/state-machine/play.ts'

const named = (name: string) => Object.assign(new Error(`it was ${name}`), { name })

/** A task each of whose tries does what the list says next: throws an error, or answers. */
function stageOf(tries: unknown[], change: Partial<Stage> = {}) {
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
    ...change,
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

  it('gives up a task that takes too long', async () => {
    const { stage } = stageOf([], {
      perform: (_, __, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    await expect(play(oneTask({ TimeoutSeconds: 0.01 }), {}, stage)).rejects.toThrow(
      expect.objectContaining({ name: 'States.Timeout' }),
    )
  })

  it('does the states of a map with each item, and answers what is known of those that failed, if that is tolerated', async () => {
    const map = (fields: object = {}): Definition => {
      const ItemProcessor = { ProcessorConfig: { Mode: 'DISTRIBUTED' }, ...oneTask({}) }
      const path = { ItemsPath: '$.items', ResultPath: '$.items' }
      return { StartAt: 'Map', States: { Map: { Type: 'Map', ItemProcessor, ...path, End: true, ...fields } } }
    }
    const perform: Stage['perform'] = async (_, item) => {
      if (item === 2) throw named('Broken')
      return Number(item) * 10
    }
    const { stage } = stageOf([], { perform })
    const input = { items: [1, 2, 3] }
    const failed = { Status: 'FAILED', Input: '2', Error: 'Broken', Cause: 'it was Broken' }
    expect(await play(map({ ToleratedFailurePercentage: 100 }), input, stage)).toEqual({ items: [10, failed, 30] })
    await expect(play(map(), input, stage)).rejects.toThrow('Broken')
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
    ['a failure', oneState({ Type: 'Fail', Error: 'E', Cause: 'because' }), 'because'],
  ])('fails at %s', async (_, definition, message) => {
    await expect(play(definition, {}, stageOf([]).stage)).rejects.toThrow(message)
  })
})
