import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach } from 'vitest'

type Wait = (ms: number, value: unknown, options?: { signal?: AbortSignal }) => Promise<unknown>

/**
 * In the test file that calls this, a wait of product code (setTimeout of node:timers/promises) is what `wait` makes of it.
 * As this mocks no module, it also works on modules that are already loaded.
 */
export function replaceWaits(wait: Wait): void {
  const original = timers.setTimeout
  const set = (setTimeout: unknown) => {
    Object.assign(timers, { setTimeout })
    // Imports by name are bound to the module's exports, which this updates.
    syncBuiltinESMExports()
  }
  beforeAll(() => set(wait))
  afterAll(() => set(original))
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
  let nowMs = 0
  /** Of the waits, and of the signals that time aborts. */
  let ends: { atMs: number; isWait?: true; end(): void }[] = []
  const first = (of: typeof ends) => of.toSorted((one, other) => one.atMs - other.atMs)[0]
  const passTo = (untilMs: number) => {
    for (let next = first(ends); next && next.atMs <= untilMs; next = first(ends)) {
      nowMs = Math.max(nowMs, next.atMs)
      ends.splice(ends.indexOf(next), 1)
      next.end()
      if (next.isWait) return
    }
    nowMs = Math.max(nowMs, untilMs)
  }
  const waitUntil = (atMs: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const wait = { atMs, isWait: true as const, end: resolve }
      const giveUp = () => {
        ends = ends.filter((each) => each !== wait)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      ends.push(wait)
      // By then, others that wait at the same time do so.
      setImmediate(() => passTo(first(ends.filter(({ isWait }) => isWait))?.atMs ?? nowMs))
    })

  const time: SkippedTime = { pausesMs: [], beforePause: () => {}, pass: (ms) => passTo(nowMs + ms) }
  replaceWaits(async (ms, value, { signal } = {}) => {
    await time.beforePause()
    signal?.throwIfAborted()
    time.pausesMs.push(ms)
    await waitUntil(nowMs + ms, signal)
    return value
  })
  const { now } = performance
  const { timeout } = AbortSignal
  const { random: byChance } = Math
  beforeAll(() => {
    Math.random = random
    performance.now = () => nowMs
    AbortSignal.timeout = (ms) => {
      const controller = new AbortController()
      const end = () => controller.abort(new DOMException('The operation timed out', 'TimeoutError'))
      ends.push({ atMs: nowMs + ms, end })
      return controller.signal
    }
  })
  afterAll(() => {
    Math.random = byChance
    performance.now = now
    AbortSignal.timeout = timeout
  })
  beforeEach(() => {
    Object.assign(time, { pausesMs: [], beforePause: () => {} })
    ends = []
  })
  return time
}
