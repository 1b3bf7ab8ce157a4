import { ServiceError } from '../../../lib/errors.ts'

/** What happens to one call of a process. */
export type Fate =
  | 'ok'
  | 'fail_before'
  | 'fail_after'
  | 'kill_before'
  | 'kill_after'
  /** Fails now, takes effect later. */
  | 'late'
  /** Takes effect now, and once more later: it was sent twice. */
  | 'repeated'
  /** Answered with an error, having taken no effect. */
  | 'refused'
  /** Answered with an error, having taken effect. */
  | 'refused_after'

export interface PendingCall {
  name: string
  args: unknown[]
  decide(fate: Fate): void
}

export interface CallRecord {
  name: string
  fate: Fate
  args: unknown[]
  result?: unknown
}

/** What is changed while it is listed. */
const PAGED = /^(documents\.listRows|reservations\.list)$/
const PAGE = 2

interface Paged {
  documentId: string
  attemptId?: string
  purpose?: string
}
const idOf = ({ documentId, attemptId, purpose }: Paged) => (purpose === 'late_copy' ? `late_${attemptId}` : documentId)

/** What was sent, and has not arrived. */
export interface LateCall {
  name: string
  args: unknown[]
  apply(): Promise<unknown>
}

const LOST = new Error('lost')
const REFUSED = new Error('refused')
const lost = () => new ServiceError('service_unavailable', { isUnanswered: true, cause: LOST })
const refused = () => new ServiceError('service_unavailable', { cause: REFUSED })

/**
 * A process of the service under test. It stops at every call to a store until it is told what becomes of the call, so that
 * a history can interleave processes in any way, break their calls and kill them.
 */
export class Process {
  readonly name: string
  readonly calls: CallRecord[] = []
  /** Calls that wait for their fate, in order: a process may make several at once. */
  readonly #pending: PendingCall[] = []
  isKilled = false
  outcome: { value: unknown } | { error: unknown } | undefined
  readonly #late: LateCall[]

  /** @param late where effects that come later are put */
  constructor(name: string, late: LateCall[]) {
    this.name = name
    this.#late = late
  }

  start(work: () => Promise<unknown>): void {
    work().then(
      (value) => {
        this.outcome = { value }
      },
      (error) => {
        this.outcome = { error }
      },
    )
  }

  get pending(): PendingCall | undefined {
    return this.#pending[0]
  }

  /** All that it waits for: calls made side by side may end in any order. */
  get waiting(): readonly PendingCall[] {
    return this.#pending
  }

  get isRunning(): boolean {
    return !this.isKilled && this.outcome === undefined
  }

  /** A store whose methods stop for this process. Listings stop once, at their beginning; those of PAGED before each page. */
  gate<Store extends object>(store: Store, storeName: string): Store {
    return new Proxy(store, {
      get: (target, key) => {
        const method = Reflect.get(target, key)
        if (typeof method !== 'function') return method
        const name = `${storeName}.${String(key)}`
        return (...args: unknown[]) => {
          const call = () => Reflect.apply(method, target, args)
          if (PAGED.test(name)) return this.#gatePages(name, call)
          return /\.list/.test(name) ? this.#gateListing(name, call) : this.#gateCall(name, args, call)
        }
      },
    })
  }

  /** Read as DynamoDB reads it: each page as it is when it is its turn. */
  async *#gatePages(name: string, call: () => AsyncIterable<Paged>) {
    let after = ''
    for (let page: Paged[] = []; ; page = []) {
      await this.#gateCall(name, [], async () => {
        const all: Paged[] = []
        for await (const element of call()) all.push(element)
        const behind = all.filter((element) => idOf(element) > after)
        page = behind.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1)).slice(0, PAGE)
        return page
      })
      yield* page
      if (page.length < PAGE) return
      after = idOf(page.at(-1) as Paged)
    }
  }

  async *#gateListing(name: string, call: () => AsyncIterable<unknown>) {
    const elements: unknown[] = []
    await this.#gateCall(name, [], async () => {
      for await (const element of call()) elements.push(element)
      return elements
    })
    yield* elements
  }

  #gateCall(name: string, args: unknown[], call: () => Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const pending: PendingCall = {
        name,
        args,
        decide: (fate) => {
          this.#pending.splice(this.#pending.indexOf(pending), 1)
          const record: CallRecord = { name, fate, args }
          this.calls.push(record)
          const apply = async () => {
            record.result = await call()
            return record.result
          }
          if (fate === 'kill_before' || fate === 'kill_after') {
            this.isKilled = true
            if (fate === 'kill_after') apply().catch(() => {})
          } else if (fate === 'fail_before') reject(lost())
          else if (fate === 'refused') reject(refused())
          else if (fate === 'refused_after') apply().then(() => reject(refused()), reject)
          else if (fate === 'late') {
            this.#late.push({ name, args, apply: call })
            reject(lost())
          } else if (fate === 'fail_after') apply().then(() => reject(lost()), reject)
          else if (fate === 'repeated') {
            this.#late.push({ name, args, apply: call })
            apply().then(resolve, reject)
          } else apply().then(resolve, reject)
        },
      }
      this.#pending.push(pending)
    })
  }
}
