import { createRequire, syncBuiltinESMExports } from 'node:module'
import TinyQueue from 'tinyqueue'

export interface VirtualClock {
  /** ms since 1970. */
  now(): number
  /** Lets time pass, from timer to timer, until no timer is left or the given time is reached. */
  runUntil(atMs: number): Promise<void>
}

interface Timer {
  dueMs: number
  /** The lowest of several that are due at once comes first. */
  order: number
  fire(): void
  /** Has fired, or was cleared. */
  isOver: boolean
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
  const timers = createTimers()
  const { setImmediate } = globalThis

  const schedule = (fire: () => void, delayMs: number) => timers.add(nowMs + Math.max(0, delayMs), fire)
  const setTimeout = (fire: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) => {
    const timer = schedule(() => fire(...args), Number(delayMs))
    return Object.assign(timer, { ref: () => timer, unref: () => timer, hasRef: () => true })
  }
  const clearTimeout = (timer: Timer | undefined) => {
    if (timer) timers.clear(timer)
  }
  const sleep = (delayMs: number, value: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const giveUp = () => {
        timers.clear(timer)
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
      for (let next = timers.take(atMs); next !== undefined; next = timers.take(atMs)) {
        nowMs = next.dueMs
        next.fire()
        await allThatIsReady(setImmediate)
      }
      nowMs = Math.max(nowMs, atMs)
    },
  }
}

/** Promises and ticks all run before the next turn of the event loop; nothing here waits for a file or a socket. */
function allThatIsReady(setImmediate: (fire: () => void) => void): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Timers that have not fired yet. Most are cleared long before they are due, so they go when they are the greater part. */
function createTimers() {
  const byTime = (one: Timer, other: Timer) => one.dueMs - other.dueMs || one.order - other.order
  let queue = new TinyQueue<Timer>([], byTime)
  let [order, cleared] = [0, 0]
  return {
    add(dueMs: number, fire: () => void): Timer {
      const timer = { dueMs, order: order++, fire, isOver: false }
      queue.push(timer)
      return timer
    },
    clear(timer: Timer): void {
      if (timer.isOver) return
      timer.isOver = true
      if (++cleared <= queue.length / 2) return
      queue = new TinyQueue(
        queue.data.filter(({ isOver }) => !isOver),
        byTime,
      )
      cleared = 0
    },
    /** Removes the first that is due by then. */
    take(atMs: number): Timer | undefined {
      for (let first = queue.peek(); first && (first.isOver || first.dueMs <= atMs); first = queue.peek()) {
        queue.pop()
        if (first.isOver) cleared--
        else return Object.assign(first, { isOver: true })
      }
      return undefined
    },
  }
}
