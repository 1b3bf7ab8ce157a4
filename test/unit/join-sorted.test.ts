import { describe, expect, it } from 'vitest'
import { joinSorted } from '../../lib/maintenance/join-sorted.ts'

describe('joinSorted', () => {
  const join = async (left: string[], right: string[]) => {
    const from = async function* (keys: string[]) {
      yield* keys
    }
    const pairs = []
    for await (const pair of joinSorted(from(left), from(right), { left: (key) => key, right: (key) => key })) {
      pairs.push(`${pair.left ?? '-'}${pair.right ?? '-'}`)
    }
    return pairs
  }

  it.each([
    [[], [], []],
    [['a'], [], ['a-']],
    [[], ['a'], ['-a']],
    [
      ['a', 'b', 'd'],
      ['b', 'c', 'd', 'e'],
      ['a-', 'bb', '-c', 'dd', '-e'],
    ],
    [
      ['B', 'a'],
      ['a', '\u{1f4c4}'],
      ['B-', 'aa', '-\u{1f4c4}'],
    ],
    [['\u{ff5e}', '\u{1f4c4}'], ['\u{1f4c4}'], ['\u{ff5e}-', '\u{1f4c4}\u{1f4c4}']],
  ])('%j and %j: %j', async (left, right, pairs) => {
    expect(await join(left, right)).toEqual(pairs)
  })
})
