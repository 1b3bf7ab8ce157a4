import { createRequire, syncBuiltinESMExports } from 'node:module'

export interface VirtualClock {
  /** ms since 1970. */
  now(): number
  /** Lets time pass, from timer to timer, until no timer is left or the given time is reached. */
  runUntil(atMs: number): Promise<void>
}

interface Timer {
  dueMs: number
  fire(): void
  isCleared: boolean
}

/** Round, and later than any document's time that might be compared with it. */
const START_MS = Date.UTC(2027, 0, 1)

/**
 * From now on, the time of this process passes only when it is told to: Date, performance.now, setTimeout (that of
 * node:timers/promises as well) and AbortSignal.timeout go by a clock that jumps from one timer to the next. For a
 * process of its own: there is no way back.
 */
export function installVirtualClock(): VirtualClock {
  let nowMs = START_MS
  const timers = createQueue()
  const { setImmediate } = globalThis

  const schedule = (fire: () => void, delayMs: number): Timer => {
    const timer = { dueMs: nowMs + Math.max(0, delayMs), fire, isCleared: false }
    timers.push(timer)
    return timer
  }
  const setTimeout = (fire: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) => {
    const timer = schedule(() => fire(...args), Number(delayMs))
    return Object.assign(timer, { ref: () => timer, unref: () => timer, hasRef: () => true })
  }
  const clearTimeout = (timer: Timer | undefined) => {
    if (timer) timer.isCleared = true
  }
  const sleep = (delayMs: number, value: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const giveUp = () => {
        timer.isCleared = true
        reject(Object.assign(new Error('The operation was aborted'), { name: 'AbortError', cause: signal?.reason }))
      }
      const timer = schedule(() => {
        signal?.removeEventListener('abort', giveUp)
        resolve(value)
      }, delayMs)
      if (signal?.aborted) giveUp()
      else signal?.addEventListener('abort', giveUp, { once: true })
    })
  // Whole, like those of the real clock: a fraction would make stored times longer than they are.
  const wholeMs = () => Math.floor(nowMs)
  const RealDate = Date
  class VirtualDate extends RealDate {
    constructor(...args: [] | [number]) {
      super(...((args.length === 0 ? [wholeMs()] : args) as [number]))
    }
    static override now = wholeMs
  }

  Object.assign(globalThis, { Date: VirtualDate, setTimeout, clearTimeout })
  performance.now = () => nowMs - START_MS
  AbortSignal.timeout = (delayMs) => {
    const controller = new AbortController()
    schedule(() => controller.abort(new DOMException('The operation timed out', 'TimeoutError')), delayMs)
    return controller.signal
  }
  Object.assign(createRequire(import.meta.url)('node:timers/promises'), { setTimeout: sleep })
  // Modules that have imported these by name get them, too.
  syncBuiltinESMExports()

  return {
    now: () => nowMs,
    async runUntil(atMs) {
      await allThatIsReady(setImmediate)
      for (let next = timers.peek(); next !== undefined && next.dueMs <= atMs; next = timers.peek()) {
        timers.pop()
        if (next.isCleared) continue
        nowMs = next.dueMs
        next.fire()
        await allThatIsReady(setImmediate)
      }
      nowMs = Math.max(nowMs, Math.min(atMs, timers.peek()?.dueMs ?? atMs))
    },
  }
}

/** Promises and ticks all run before the next turn of the event loop; nothing here waits for a file or a socket. */
function allThatIsReady(setImmediate: (fire: () => void) => void): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** A queue that gives what is due first and, of several, what came first. */
function createQueue() {
  const sorted: Timer[] = []
  return {
    peek: (): Timer | undefined => sorted[0],
    push(timer: Timer): void {
      let [low, high] = [0, sorted.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((sorted[middle] as Timer).dueMs <= timer.dueMs) low = middle + 1
        else high = middle
      }
      sorted.splice(low, 0, timer)
    },
    pop: () => void sorted.shift(),
  }
}
