import timers from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { createTimeline, setSleep } from './virtual-clock.ts'

type Wait = (ms: number, value: unknown, options?: { signal?: AbortSignal }) => Promise<unknown>

/**
 * In the test file that calls this, a wait of product code (setTimeout of node:timers/promises) is what `wait` makes of it.
 * As this mocks no module, it also works on modules that are already loaded.
 */
export function replaceWaits(wait: Wait): void {
  const original = timers.setTimeout
  beforeAll(() => setSleep(wait))
  afterAll(() => setSleep(original))
}

/** Since the test began. */
interface SkippedTime {
  /** The waits that were skipped. */
  pausesMs: number[]
  /** Called before each wait, which begins when it is done. */
  beforePause: () => void | Promise<void>
  /** Time passes for another reason: a call hangs. */
  pass(ms: number): void
}

/**
 * In the test file that calls this, nothing really waits: whenever something would, time jumps to the end of the first wait.
 * performance.now() and AbortSignal.timeout() go by that time, so nothing depends on how fast the machine is.
 * @param random in place of Math.random, so that pauses are equally long, and end in their order, in each run
 */
export function skipWaits({ random = Math.random } = {}): SkippedTime {
  let timeline = createTimeline(0)
  /** Until a wait has ended, if there is one. */
  const passTo = (atMs: number) => {
    const { size } = timeline.waits
    while (timeline.waits.size >= size && timeline.pass(atMs)) {}
  }
  const passFirst = () => passTo(Math.min(...[...timeline.waits].map(({ dueMs }) => dueMs)))

  const time: SkippedTime = { pausesMs: [], beforePause: () => {}, pass: (ms) => passTo(timeline.now() + ms) }
  replaceWaits(async (ms, value, options = {}) => {
    await time.beforePause()
    options.signal?.throwIfAborted()
    time.pausesMs.push(ms)
    // By then, others that wait at the same time do so.
    setImmediate(() => timeline.waits.size > 0 && passFirst())
    return timeline.sleep(ms, value, options)
  })
  const { now } = performance
  const { timeout } = AbortSignal
  const { random: byChance } = Math
  beforeAll(() => {
    Math.random = random
    performance.now = () => timeline.now()
    AbortSignal.timeout = (ms) => timeline.timeout(ms)
  })
  afterAll(() => {
    Math.random = byChance
    performance.now = now
    AbortSignal.timeout = timeout
  })
  beforeEach(() => {
    Object.assign(time, { pausesMs: [], beforePause: () => {} })
    timeline = createTimeline(timeline.now())
  })
  return time
}
