import { describe, expect, it } from 'vitest'
import { forEachAtOnce } from '../../lib/each-at-once.ts'

const turn = () => new Promise((done) => setImmediate(done))

describe('forEachAtOnce', () => {
  it('works on so many at once, in their order, on each once', async () => {
    async function* numbers() {
      for (let number = 0; number < 20; number++) yield number
    }
    const begun: number[] = []
    let atOnce = 0
    let most = 0
    await forEachAtOnce(numbers(), 3, async (number) => {
      begun.push(number)
      most = Math.max(most, ++atOnce)
      for (let turns = 0; turns <= number % 3; turns++) await turn()
      atOnce--
    })
    expect(begun).toEqual(Array.from({ length: 20 }, (_, number) => number))
    expect(most).toBe(3)
  })

  it('takes the next only when somebody is free', async () => {
    let taken = 0
    function* numbers() {
      for (;;) {
        if (taken === 10) return
        yield taken++
      }
    }
    let done = 0
    await forEachAtOnce(numbers(), 2, async () => {
      await turn()
      done++
      expect(taken - done).toBeLessThanOrEqual(2)
    })
    expect(done).toBe(10)
  })

  it('throws what the sequence throws, after the work under way has ended', async () => {
    async function* numbers() {
      yield 1
      yield 2
      throw new Error('broken off')
    }
    const ended: number[] = []
    const work = async (number: number) => {
      await turn()
      ended.push(number)
    }
    await expect(forEachAtOnce(numbers(), 2, work)).rejects.toThrow('broken off')
    expect(ended.toSorted()).toEqual([1, 2])
  })

  it('throws the first failure of the work, and takes no more', async () => {
    const begun: number[] = []
    const work = async (number: number) => {
      begun.push(number)
      await turn()
      if (number === 2) throw new Error('two')
    }
    await expect(forEachAtOnce([1, 2, 3, 4, 5, 6, 7], 2, work)).rejects.toThrow('two')
    expect(begun.length).toBeLessThan(5)
  })
})
