import { syncBuiltinESMExports } from 'node:module'
import promised from 'node:timers/promises'
import TinyQueue from 'tinyqueue'

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

/** Time that passes from timer to timer, when it is told to. */
export function createTimeline(startMs: number) {
  let nowMs = startMs
  let order = 0
  const waits = new Set<Timer>()
  const queue = new TinyQueue<Timer>([], (one, other) => one.dueMs - other.dueMs || one.order - other.order)

  const schedule = (fire: () => void, delayMs: number): Timer => {
    const timer = { dueMs: nowMs + Math.max(0, delayMs), order: order++, fire, isOver: false }
    queue.push(timer)
    return timer
  }
  return {
    now: () => nowMs,
    schedule,
    /** Waits that have not ended: the sleep of node:timers/promises. */
    waits,

    /** Passes to the first timer that is due by then, which fires, or else to that time. @returns whether one fired */
    pass(atMs: number): boolean {
      for (let first = queue.peek(); first && (first.isOver || first.dueMs <= atMs); first = queue.peek()) {
        queue.pop()
        if (first.isOver) continue
        nowMs = Math.max(nowMs, first.dueMs)
        first.isOver = true
        first.fire()
        return true
      }
      nowMs = Math.max(nowMs, atMs)
      return false
    },

    sleep(delayMs: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> {
      return new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          timer.isOver = true
          waits.delete(timer)
          signal?.removeEventListener('abort', giveUp)
          settle()
        }
        const giveUp = () => {
          const failure = { name: 'AbortError', cause: signal?.reason }
          end(() => reject(Object.assign(new Error('The operation was aborted'), failure)))
        }
        const timer = schedule(() => end(() => resolve(value)), delayMs)
        waits.add(timer)
        if (signal?.aborted) giveUp()
        else signal?.addEventListener('abort', giveUp, { once: true })
      })
    },

    timeout(delayMs: number): AbortSignal {
      const controller = new AbortController()
      schedule(() => controller.abort(new DOMException('The operation timed out', 'TimeoutError')), delayMs)
      return controller.signal
    },
  }
}

/** Modules that have imported the setTimeout of node:timers/promises by its name get this one, too. */
export function setSleep(sleep: unknown): void {
  Object.assign(promised, { setTimeout: sleep })
  syncBuiltinESMExports()
}

/**
 * From now on, the time of this process passes only when it is told to: Date, performance.now, setTimeout (that of
 * node:timers/promises as well) and AbortSignal.timeout go by a clock that jumps from one timer to the next. For a
 * process of its own: there is no way back.
 */
export function installVirtualClock() {
  const { now, schedule, pass, sleep, timeout } = createTimeline(START_MS)
  const { setImmediate } = globalThis

  const setTimeout = (fire: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) => {
    const timer = schedule(() => fire(...args), Number(delayMs))
    return Object.assign(timer, { ref: () => timer, unref: () => timer, hasRef: () => true })
  }
  const clearTimeout = (timer: Timer | undefined) => {
    if (timer) timer.isOver = true
  }
  // Whole, like those of the real clock: a fraction would make stored times longer than they are.
  const wholeMs = () => Math.floor(now())
  const RealDate = Date
  class VirtualDate extends RealDate {
    constructor(...args: [] | [number]) {
      super(...((args.length === 0 ? [wholeMs()] : args) as [number]))
    }
    static override now = wholeMs
  }
  Object.assign(globalThis, { Date: VirtualDate, setTimeout, clearTimeout })
  performance.now = () => now() - START_MS
  AbortSignal.timeout = timeout
  setSleep(sleep)

  /** Promises and ticks all run before the next turn of the event loop; nothing here waits for a file or a socket. */
  const allThatIsReady = () => new Promise<void>((resolve) => setImmediate(resolve))
  const runUntil = async (atMs: number): Promise<void> => {
    do await allThatIsReady()
    while (pass(atMs))
  }
  return {
    /** ms since 1970. */
    now,
    /** Lets time pass, from timer to timer, until the given time is reached. */
    runUntil,
    /** Lets time pass until that has happened, and up to 50 ms longer. */
    async runUntilDone<Result>(happening: Promise<Result>): Promise<Result> {
      let isOver = false
      const note = () => {
        isOver = true
      }
      happening.then(note, note)
      while (!isOver) await runUntil(now() + 50)
      return happening
    },
  }
}
