import { ServiceError } from '../../../lib/errors.ts'
import type { Request } from './requests.ts'
import type { Stores } from './stores.ts'

interface Effect {
  /** It takes effect at once; and later, when the service may have given it up. */
  now?: true
  later?: true
  /** Left out: its process is killed. */
  answer?: 'result' | 'lost' | 'refused'
  told: string
}

/** What may become of a call. */
export const FATES = {
  ok: { now: true, answer: 'result', told: 'is answered' },
  fail_before: { answer: 'lost', told: 'is lost' },
  fail_after: { now: true, answer: 'lost', told: 'is applied, and its answer lost' },
  late: { later: true, answer: 'lost', told: 'is given up, and arrives later' },
  repeated: { now: true, later: true, answer: 'result', told: 'is answered, and arrives once more later' },
  kill_before: { told: 'is never sent: the process is killed' },
  kill_after: { now: true, told: 'is applied, and the process killed' },
  refused: { answer: 'refused', told: 'is answered with an error' },
  refused_after: { now: true, answer: 'refused', told: 'is applied, and answered with an error' },
} as const satisfies Record<string, Effect>

export type Fate = keyof typeof FATES

export interface Call {
  name: string
  args: unknown[]
  apply(): Promise<unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
  /** Once it is decided. */
  fate?: Fate
  result?: unknown
}

/** What is changed while it is listed. */
const PAGED = /^(documents\.listItems|reservations\.list)$/
const PAGE = 2

interface Listed {
  documentId: string
  attemptId?: string
  purpose?: string
}
const NOTES = ['late_copy', 'deletion']
const idOf = ({ documentId, attemptId, purpose = '' }: Listed) =>
  NOTES.includes(purpose) ? `${purpose}_${attemptId}` : documentId

/** A process of the service under test. It stops at every call to a store until it is told what becomes of the call. */
export class Process {
  readonly index: number
  readonly name: string
  readonly request: Request
  readonly beganAtMs: number
  /** By the timeline. */
  readonly beganAt: number
  readonly #aheadMs: number
  /** The earliest and the latest time that its clock has shown. */
  leastMs = Number.POSITIVE_INFINITY
  mostMs = 0
  readonly calls: Call[] = []
  /** Calls made side by side may end in any order. */
  readonly waiting: Call[] = []
  isKilled = false
  outcome: { value: unknown } | { error: unknown } | undefined

  constructor(index: number, request: Request, stores: Stores, aheadMs: number) {
    this.index = index
    this.name = `${request.do} ${index}`
    this.request = request
    this.#aheadMs = aheadMs
    this.beganAtMs = stores.nowMs
    this.beganAt = stores.timeline.moment
    this.pass(stores)
  }

  pass(stores: Stores): void {
    const nowMs = stores.nowMs + this.#aheadMs
    this.leastMs = Math.min(this.leastMs, nowMs)
    this.mostMs = Math.max(this.mostMs, nowMs)
    if (/expire|audit|promote/.test(this.request.do)) stores.expiredByMs = Math.max(stores.expiredByMs, this.mostMs)
  }

  async start(work: Promise<unknown>): Promise<void> {
    this.outcome = await work.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
  }

  get isRunning(): boolean {
    return !this.isKilled && this.outcome === undefined
  }

  /** What a function does for a caller: its process ends with the function's time. */
  get isForCaller(): boolean {
    return /promote|list|download/.test(this.request.do) || ('byApi' in this.request && this.request.byApi === true)
  }

  /** What takes effect later is the world's. */
  decide(call: Call, fate: Fate): void {
    const { now, answer }: Effect = FATES[fate]
    this.waiting.splice(this.waiting.indexOf(call), 1)
    this.calls.push(Object.assign(call, { fate }))
    if (answer === undefined) this.isKilled = true
    const applied = now ? call.apply() : Promise.resolve()
    applied.then(
      (result) => {
        call.result = result
        if (answer === 'result') call.resolve(result)
        else if (answer) call.reject(new ServiceError('service_unavailable', { isUnanswered: answer === 'lost' }))
      },
      (error) => answer && call.reject(error),
    )
  }

  /** A store whose methods stop for this process. Listings stop at their beginning; those of PAGED before each page. */
  gate<Store extends object>(store: Store, storeName: string): Store {
    return new Proxy(store, {
      get: (target, key) => {
        const method = Reflect.get(target, key)
        // What the copy of a file will be is known without a call.
        if (typeof method !== 'function' || key === 'copiesWhole') return method
        const name = `${storeName}.${String(key)}`
        return (...args: unknown[]) => {
          const apply = () => Reflect.apply(method, target, args)
          return name.includes('.list') ? this.#list(name, apply) : this.#call(name, args, apply)
        }
      },
    })
  }

  /** Read as DynamoDB reads it: each page as it is when it is its turn. */
  async *#list(name: string, apply: () => AsyncIterable<Listed>) {
    const size = PAGED.test(name) ? PAGE : Number.POSITIVE_INFINITY
    let page: Listed[] = []
    do {
      const last = page.at(-1)
      await this.#call(name, [], async () => {
        page = await Array.fromAsync(apply())
        if (size !== PAGE) return page
        const behind = last ? page.filter((element) => idOf(element) > idOf(last)) : page
        page = behind.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1)).slice(0, size)
        return page
      })
      yield* page
    } while (page.length === size)
  }

  #call(name: string, args: unknown[], apply: () => Promise<unknown>): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers()
    this.waiting.push({ name, args, apply, resolve, reject })
    return promise
  }
}
