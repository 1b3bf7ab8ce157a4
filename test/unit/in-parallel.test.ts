import { beforeEach, describe, expect, it } from 'vitest'
import { inParallel } from '../../lib/aws/in-parallel.ts'
import { skipWaits } from '../support/virtual-waits.ts'

const time = skipWaits()

const OVERLOAD = new Error('too many at once')
const FAILURE = new Error('broken')
const isOverload = (error: unknown) => error === OVERLOAD

interface Attempt {
  number: number
  signal: AbortSignal
  succeed(result?: string): void
  fail(error: Error): void
}

/** Tasks that end when they are told to, and how many of them ran at the same time. */
let running: Attempt[]
let started: number[]
beforeEach(() => {
  running = []
  started = []
})
const work = (number: number, signal: AbortSignal) =>
  new Promise<string>((resolve, reject) => {
    const end = () => running.splice(running.indexOf(attempt), 1)
    const attempt: Attempt = {
      number,
      signal,
      succeed(result = `result ${number}`) {
        end()
        resolve(result)
      },
      fail(error) {
        end()
        reject(error)
      },
    }
    running.push(attempt)
    started.push(number)
  })
/** Until everybody waits for a task to end. */
const settled = () => new Promise((resolve) => setImmediate(resolve))
const numbers = () => running.map(({ number }) => number)
const at = (index: number): Attempt => {
  const attempt = running[index]
  if (attempt === undefined) throw new Error(`only ${running.length} are running`)
  return attempt
}

const start = (count: number, concurrency: number, signal = new AbortController().signal) => {
  const ended = { is: false }
  const results = inParallel({ count, concurrency, isOverload }, work, signal)
  const note = () => {
    ended.is = true
  }
  results.then(note, note)
  return { results, ended }
}

describe('inParallel', () => {
  it.each([
    [5, 2],
    [5, 5],
    [2, 5],
    [1, 1],
  ])('runs %d tasks, %d at a time, and returns the results in order', async (count, concurrency) => {
    const { results } = start(count, concurrency)
    const all = Array.from({ length: count }, (_, index) => index + 1)
    while (started.length < count || running.length > 0) {
      expect(running.length).toBe(Math.min(concurrency, count - started.length + running.length))
      at(running.length - 1).succeed()
      await settled()
    }
    expect(started).toEqual(all)
    expect(await results).toEqual(all.map((number) => `result ${number}`))
    expect(time.pausesMs).toEqual([])
  })

  it('has nothing to do for no task', async () => {
    expect(await start(0, 3).results).toEqual([])
    expect(started).toEqual([])
  })

  it('runs what was refused for overload again, half as many at the same time', async () => {
    const { results } = start(6, 4)
    for (const attempt of [...running]) attempt.fail(OVERLOAD)
    await settled()
    expect(running.length).toBe(2)
    expect(time.pausesMs).toHaveLength(4)
    for (const pauseMs of time.pausesMs) expect([pauseMs >= 100, pauseMs < 200]).toEqual([true, true])
    while (running.length > 0) {
      at(0).succeed()
      await settled()
    }
    expect(await results).toEqual([1, 2, 3, 4, 5, 6].map((number) => `result ${number}`))
    expect(started.toSorted()).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 6])
  })

  it('runs half of them at the same time also when there are fewer tasks than might run', async () => {
    const { results } = start(2, 8)
    for (const attempt of [...running]) attempt.fail(OVERLOAD)
    await settled()
    expect(running.length).toBe(1)
    while (running.length > 0) {
      at(0).succeed()
      await settled()
    }
    expect(await results).toEqual(['result 1', 'result 2'])
  })

  it('comes back to more at the same time as they succeed', async () => {
    const { results } = start(30, 4)
    for (const attempt of [...running]) attempt.fail(OVERLOAD)
    await settled()
    const most: number[] = []
    while (running.length > 0) {
      most.push(running.length)
      at(0).succeed()
      await settled()
    }
    expect(most[0]).toBe(2)
    expect(Math.max(...most)).toBe(4)
    expect(await results).toHaveLength(30)
  })

  it('gives up when even one at a time is refused', async () => {
    const { results } = start(3, 2)
    for (const attempt of [...running]) attempt.fail(OVERLOAD)
    await settled()
    expect(running.length).toBe(1)
    at(0).fail(OVERLOAD)
    await expect(results).rejects.toBe(OVERLOAD)
    expect(started).toHaveLength(3)
  })

  it('aborts the others when one fails, waits for their end, and throws what failed first', async () => {
    const { results, ended } = start(5, 3)
    at(1).fail(FAILURE)
    await settled()
    expect(running.map(({ number, signal }) => [number, signal.aborted])).toEqual([
      [1, true],
      [3, true],
    ])
    expect(ended.is).toBe(false)
    at(0).fail(new Error('aborted'))
    await settled()
    expect(ended.is).toBe(false)
    at(0).succeed()
    await expect(results).rejects.toBe(FAILURE)
    expect(started).toEqual([1, 2, 3])
  })

  it('does not run again what is refused when another has failed', async () => {
    const { results } = start(3, 3)
    at(0).fail(FAILURE)
    await settled()
    at(0).fail(OVERLOAD)
    await settled()
    expect(numbers()).toEqual([3])
    at(0).fail(OVERLOAD)
    await expect(results).rejects.toBe(FAILURE)
    expect(started).toEqual([1, 2, 3])
  })

  it('begins nothing more when it is told to stop, and says so once all have ended', async () => {
    const stop = new AbortController()
    const { results, ended } = start(4, 2, stop.signal)
    stop.abort(new Error('the time is over'))
    await settled()
    expect(running.map(({ signal }) => signal.aborted)).toEqual([true, true])
    expect(ended.is).toBe(false)
    at(0).succeed()
    await settled()
    at(0).succeed()
    await expect(results).rejects.toMatchObject({ reason: 'promotion_timed_out', cause: stop.signal.reason })
    expect(started).toEqual([1, 2])
  })

  it('is told to stop while it waits to run a task again', async () => {
    const stop = new AbortController()
    const { results } = start(2, 2, stop.signal)
    time.beforePause = () => stop.abort()
    at(0).fail(OVERLOAD)
    await settled()
    at(0).succeed()
    await expect(results).rejects.toMatchObject({ reason: 'promotion_timed_out' })
    expect(started).toEqual([1, 2])
  })
})
