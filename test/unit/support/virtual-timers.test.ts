import { expect, it } from 'vitest'
import { createTimers } from '../../bench/contention/virtual-clock.ts'

it('timers of the virtual clock come when they are due, those of one moment as they were set, and cleared ones never', () => {
  const timers = createTimers()
  const [late, first, cleared, second] = [3, 1, 1, 1].map((dueMs) => timers.add(dueMs, () => {}))
  timers.clear(cleared as NonNullable<typeof cleared>)
  const taken = [timers.take(0), timers.take(2), timers.take(2), timers.take(2), timers.take(3)]
  expect(taken).toEqual([undefined, first, second, undefined, late])
})

it('cleared timers are forgotten long before they are due', () => {
  const timers = createTimers()
  const kept = timers.add(5, () => {})
  for (let count = 0; count < 1000; count++) timers.clear(timers.add(1_000_000, () => {}))
  expect(timers.size()).toBeLessThanOrEqual(3)
  expect(timers.take(10)).toBe(kept)
})
