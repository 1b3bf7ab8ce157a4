import type { Request } from './requests.ts'
import type { Sent, Transport } from './stores.ts'

interface Effect {
  /** It takes effect at once; and later, when the service may have given it up. */
  now?: true
  later?: true
  /** Left out: its process is killed. */
  answer?: 'result' | 'lost' | 'refused'
  /** The service sends it again. */
  isSentAgain?: true
  told: string
}

export const FATES = {
  ok: { now: true, answer: 'result', told: 'is answered' },
  fail_before: { answer: 'lost', told: 'is lost' },
  fail_after: { now: true, answer: 'lost', told: 'is applied, and its answer lost' },
  again: { now: true, answer: 'lost', isSentAgain: true, told: 'is applied, its answer lost, and sent again' },
  late: { later: true, answer: 'lost', told: 'is given up, and arrives later' },
  repeated: { now: true, later: true, answer: 'result', told: 'is answered, and arrives once more later' },
  kill_before: { told: 'is never sent: the process is killed' },
  kill_late: { later: true, told: 'arrives later: the process is killed' },
  kill_after: { now: true, told: 'is applied, and the process killed' },
  refused: { answer: 'refused', told: 'is answered with an error' },
  refused_after: { now: true, answer: 'refused', told: 'is applied, and answered with an error' },
} as const satisfies Record<string, Effect>

export type Fate = keyof typeof FATES

export interface Call extends Sent {
  apply(): Promise<unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
  /** Its command can be sent again: what became of it holds for each repetition. */
  give(error: unknown): void
  /** Once it is decided. */
  fate?: Fate
  result?: unknown
}

/** A promotion looks these up before it begins: the answer may be old by then, so it is no step of its own. */
const isLookup = ({ name, input }: Sent) =>
  name === 'ledger.read' || (name === 'HeadObject' && input.Bucket === 'sandboxes')

/** A process of the service under test. It stops at every command that it sends until it is told what becomes of it. */
export class Process {
  readonly name: string
  readonly request: Request
  readonly beganAtMs: number
  readonly calls: Call[] = []
  /** Calls made side by side may end in any order. */
  readonly waiting: Call[] = []
  isKilled = false
  outcome: { value: unknown } | { error: unknown } | undefined
  readonly #given = new WeakMap<object, unknown>()

  constructor(index: number, request: Request, beganAtMs: number) {
    this.name = `${request.do} ${index}`
    this.request = request
    this.beganAtMs = beganAtMs
  }

  readonly transport: Transport = (sent, command, apply) => {
    // A command that is given up is given up with all its repetitions.
    if (this.#given.has(command)) return Promise.reject(this.#given.get(command))
    if (this.request.do === 'promote' && isLookup(sent)) return this.#answer(sent, apply)
    const { promise, resolve, reject } = Promise.withResolvers()
    this.waiting.push({ ...sent, apply, resolve, reject, give: (error) => void this.#given.set(command, error) })
    return promise
  }

  async #answer(sent: Sent, apply: () => Promise<unknown>): Promise<unknown> {
    const result = await apply()
    this.calls.push({ ...sent, fate: 'ok', result } as Call)
    return result
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

  /** A function that works for a caller: its process ends with the function's time. */
  get isForCaller(): boolean {
    return /promote|delete/.test(this.request.do)
  }

  /** The world brings calls that take effect later. */
  async decide(call: Call, fate: Fate): Promise<void> {
    const { now, answer, isSentAgain }: Effect = FATES[fate]
    this.waiting.splice(this.waiting.indexOf(call), 1)
    this.calls.push(Object.assign(call, { fate }))
    if (answer === undefined) this.isKilled = true
    let failure: unknown
    if (now) {
      try {
        call.result = await call.apply()
      } catch (error) {
        failure = error
      }
    }
    if (answer === 'result' && failure) call.reject(failure)
    else if (answer === 'result') call.resolve(call.result)
    else if (answer) {
      const error =
        answer === 'lost'
          ? Object.assign(new Error('no answer'), { name: 'TimeoutError' })
          : Object.assign(new Error('an error'), { name: 'InternalError', $metadata: { httpStatusCode: 500 } })
      if (!isSentAgain) call.give(error)
      call.reject(error)
    }
  }
}
