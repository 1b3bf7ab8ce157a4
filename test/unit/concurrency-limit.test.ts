import { describe, expect, it } from 'vitest'
import { createConcurrencyLimit } from '../../lib/aws/concurrency-limit.ts'

describe('createConcurrencyLimit', () => {
  it('begins with the most, and successes never bring it above', () => {
    const limit = createConcurrencyLimit(3)
    expect(limit.current()).toBe(3)
    for (let i = 0; i < 20; i++) limit.succeeded()
    expect(limit.current()).toBe(3)
  })

  it.each([
    [8, 4],
    [7, 3],
    [3, 1],
    [2, 1],
  ])('is halved by a refusal: of %d, to %d', (most, half) => {
    const limit = createConcurrencyLimit(most)
    expect(limit.slowDown(limit.round())).toBe(true)
    expect(limit.current()).toBe(half)
  })

  it('is halved once by all that started before: their refusals say nothing new', () => {
    const limit = createConcurrencyLimit(8)
    const round = limit.round()
    expect([limit.slowDown(round), limit.slowDown(round), limit.slowDown(round)]).toEqual([true, true, true])
    expect(limit.current()).toBe(4)
    expect(limit.slowDown(limit.round())).toBe(true)
    expect(limit.current()).toBe(2)
  })

  it('has nothing left to slow down at one at a time', () => {
    const limit = createConcurrencyLimit(2)
    const first = limit.round()
    expect(limit.slowDown(first)).toBe(true)
    expect(limit.slowDown(limit.round())).toBe(false)
    expect(limit.current()).toBe(1)
    // One that started when there were two is no news even then.
    expect(limit.slowDown(first)).toBe(true)
  })

  it('adds one for as many successes as run at the same time', () => {
    const limit = createConcurrencyLimit(8)
    limit.slowDown(limit.round())
    const seen: number[] = []
    for (let i = 0; i < 20; i++) {
      limit.succeeded()
      seen.push(limit.current())
    }
    // 4 → 5 takes a little more than four, for each raises the number that the next counts by.
    expect(seen.indexOf(5)).toBe(4)
    expect(seen.indexOf(6)).toBe(9)
    expect(seen.indexOf(7)).toBe(16)
  })

  it('is at one before it is at two again', () => {
    const limit = createConcurrencyLimit(2)
    limit.slowDown(limit.round())
    limit.succeeded()
    expect(limit.current()).toBe(2)
  })
})
