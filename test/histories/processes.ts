import type { Reservation } from '../../lib/promotion/reservations.ts'
import { isForCaller } from './answers.ts'
import { type Fate, type PendingCall, Process } from './process.ts'
import type { Work } from './requests.ts'
import type { Stores } from './stores.ts'

const FUNCTION_TIMEOUT_MS = 28_000
const READS = /find|read|list|usage|has|due/i
const OPENS = /take|ledger\.mark$|\.open$|reservations\.claim|record|copy|setQuota/

/** The processes at work on the stores, and what they have sent that has not arrived yet. */
export class Processes {
  readonly all: Process[] = []
  readonly #stores: Stores
  readonly #late: (() => Promise<unknown>)[] = []
  readonly #startedAtMs = new Map<Process, number>()

  constructor(stores: Stores) {
    this.#stores = stores
  }

  start(name: string, work: Work, aheadMs = 0): Process {
    const process = new Process(name, this.#late)
    this.all.push(process)
    this.#startedAtMs.set(process, this.#stores.nowMs)
    process.start(() => work(this.#stores.dependencies(process, aheadMs)))
    return process
  }

  /** Those that have not ended. */
  get running(): Process[] {
    return this.all.filter((process) => process.isRunning)
  }

  /** Any of those. */
  pick(index: number): Process | undefined {
    const { running } = this
    return running[index % Math.max(1, running.length)]
  }

  /** Lets the next call of a process end in this way, if it can. */
  decide(process: Process, fate: Fate): void {
    const call = process.pending
    if (call === undefined) return
    // A late call arrives within the lease (docs/reliability.md), so nothing that is sent after the lease arrives late.
    const comesLate = fate === 'late' || fate === 'repeated'
    const mayComeLate = !READS.test(call.name) && !this.#isOverdue(process, call)
    // What opens is sent once.
    const mayRepeat = !OPENS.test(call.name)
    const isPossible = !comesLate || (mayComeLate && (fate === 'late' || mayRepeat))
    call.decide(isPossible ? fate : 'fail_before')
  }

  /** Whether the call is made for a reservation whose lease is over. */
  #isOverdue(process: Process, call: PendingCall): boolean {
    const subjects = [...process.calls, call].map(({ args }) => args[0] as Partial<Reservation> | undefined)
    const lease = subjects.findLast((subject) => subject?.leaseExpiresAtMs !== undefined)?.leaseExpiresAtMs
    return lease !== undefined && lease <= this.#stores.nowMs
  }

  /** A function is stopped when its time is over; an administration command is not. */
  endFunctions(): void {
    for (const process of this.running) {
      const isFunction = isForCaller(process)
      if (isFunction && this.#stores.nowMs - (this.#startedAtMs.get(process) ?? 0) >= FUNCTION_TIMEOUT_MS)
        process.isKilled = true
    }
  }

  /** Until every process waits for its next call to be decided, or has ended. */
  async settle(): Promise<void> {
    for (let rounds = 0; rounds < 1000; rounds++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (this.running.every((process) => process.pending !== undefined)) return
    }
    throw new Error('a process neither calls a store nor ends')
  }

  async deliver(): Promise<void> {
    for (const apply of this.#late.splice(0)) {
      await apply().catch(() => {})
      this.#stores.observe()
    }
  }
}
