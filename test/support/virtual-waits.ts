import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach } from 'vitest'

type Wait = (ms: number, value: unknown, options: { signal: AbortSignal }) => Promise<unknown>

/**
 * In the test file that calls this, nothing waits: a wait of product code (setTimeout of node:timers/promises) is over
 * at once, or is what `wait` makes of it. As this mocks no module, it also works on modules that are already loaded.
 */
export function replaceWaits(wait: Wait = async (_ms, value) => value): void {
  const original = timers.setTimeout
  const set = (setTimeout: unknown) => {
    Object.assign(timers, { setTimeout })
    // Imports by name are bound to the module's exports, which this updates.
    syncBuiltinESMExports()
  }
  beforeAll(() => set(wait))
  afterAll(() => set(original))
}

/** In the test file that calls this, only waits of at least this length are skipped. */
export function skipWaitsFrom(leastMs: number): void {
  const { setTimeout: wait } = timers
  replaceWaits((ms, value, options) => (ms >= leastMs ? Promise.resolve(value) : wait(ms, value, options)))
}

/** The waits that were skipped since the test began. */
interface SkippedTime {
  pausesMs: number[]
  /** Called before each wait, which begins when it is done. */
  beforePause: () => void | Promise<void>
}

/** In the test file that calls this, nothing waits, and performance.now() is ahead by the waits that were skipped. */
export function skipWaits(): SkippedTime {
  const time: SkippedTime = { pausesMs: [], beforePause: () => {} }
  let skippedMs = 0
  const { now } = performance
  replaceWaits(async (ms, value, options: { signal?: AbortSignal } = {}) => {
    await time.beforePause()
    options.signal?.throwIfAborted()
    time.pausesMs.push(ms)
    skippedMs += ms
    return value
  })
  beforeAll(() => {
    performance.now = () => now.call(performance) + skippedMs
  })
  afterAll(() => {
    performance.now = now
  })
  beforeEach(() => Object.assign(time, { pausesMs: [], beforePause: () => {} }))
  return time
}
