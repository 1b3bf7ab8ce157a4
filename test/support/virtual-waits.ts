import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach } from 'vitest'

type Wait = (ms: number, value: unknown, options: { signal: AbortSignal }) => Promise<unknown>

/**
 * In the test file that calls this, nobody waits: what product code waits for (setTimeout of node:timers/promises) is over at
 * once, or is what `wait` makes of it. No mock of a module: it works on modules that are loaded already, too.
 */
export function replaceWaits(wait: Wait = async (_ms, value) => value): void {
  const original = timers.setTimeout
  const set = (setTimeout: unknown) => {
    Object.assign(timers, { setTimeout })
    // Imports by name are bound to what the module exports: it is told to look again.
    syncBuiltinESMExports()
  }
  beforeAll(() => set(wait))
  afterAll(() => set(original))
}

/** What was waited for since the test began. */
export interface SkippedTime {
  pausesMs: number[]
  /** Called before each. */
  beforePause: () => void
}

/** In the test file that calls this, nobody waits, and performance.now() is later by what would have been waited for. */
export function skipWaits(): SkippedTime {
  const time: SkippedTime = { pausesMs: [], beforePause: () => {} }
  let skippedMs = 0
  const { now } = performance
  replaceWaits(async (ms, value, options: { signal?: AbortSignal } = {}) => {
    time.beforePause()
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
