import { describe, expect, it } from 'vitest'
import { joinSorted } from '../../../lib/audit/join-sorted.ts'

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

  it.each<[string, string, string]>([
    ['', '', ''],
    ['a', '', 'a-'],
    ['', 'a', '-a'],
    ['a b d', 'b c d e', 'a- bb -c dd -e'],
    ['B a', 'a \u{1f4c4}', 'B- aa -\u{1f4c4}'],
    ['\u{ff5e} \u{1f4c4}', '\u{1f4c4}', '\u{ff5e}- \u{1f4c4}\u{1f4c4}'],
  ])('%j and %j: %j', async (left, right, pairs) => {
    const keys = (words: string) => words.split(' ').filter(Boolean)
    expect(await join(keys(left), keys(right))).toEqual(keys(pairs))
  })

  it('closes both sequences, however it ends, if they can be closed', async () => {
    const closed: string[] = []
    const from = async function* (side: string) {
      try {
        yield* ['a', 'b']
      } finally {
        closed.push(side)
      }
    }
    const keyOf = { left: (key: string) => key, right: (key: string) => key }
    for await (const pair of joinSorted(from('left'), from('right'), keyOf)) {
      expect(pair).toEqual({ left: 'a', right: 'a' })
      break
    }
    expect(closed).toEqual(['left', 'right'])
    const bare = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true as const, value: undefined }) }) }
    const none = joinSorted<string, string>(bare, bare, keyOf)
    expect(await none.next()).toEqual({ done: true, value: undefined })
  })
})
