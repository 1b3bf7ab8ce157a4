import type { Attempt } from '../../../lib/ledger/ports/reservations.ts'
import { isForCaller } from './answers.ts'
import { type Fate, type LateCall, type PendingCall, Process } from './process.ts'
import type { Work } from './requests.ts'
import type { Stores } from './stores.ts'

const FUNCTION_TIMEOUT_MS = 28_000
export const READS = /find|read|list|usage|has|due/i
const OPENS = /take|ledger\.mark$|\.reserve$|reservations\.claim|record|copy|setQuota/

/** The processes at work on the stores, and what they have sent that has not arrived yet. */
export class Processes {
  readonly all: Process[] = []
  readonly #stores: Stores
  readonly #late: LateCall[] = []
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
    call?.decide(this.isPossible(process, call, fate) ? fate : 'fail_before')
  }

  isPossible(process: Process, call: PendingCall, fate: Fate): boolean {
    // A late call arrives within the lease (docs/reliability.md), so nothing that is sent after the lease arrives late.
    const comesLate = fate === 'late' || fate === 'repeated'
    const mayComeLate = !READS.test(call.name) && !this.#isOverdue(process, call)
    // What opens is sent once.
    const mayRepeat = !OPENS.test(call.name)
    return !comesLate || (mayComeLate && (fate === 'late' || mayRepeat))
  }

  /** Calls that have been sent and have not arrived. */
  get underWay(): readonly LateCall[] {
    return this.#late
  }

  /** Whether the call is made for a reservation whose lease is over. */
  #isOverdue(process: Process, call: PendingCall): boolean {
    const subjects = [...process.calls, call].map(({ args }) => args[0] as Partial<Attempt> | undefined)
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

  /** @param toDynamo only what is for DynamoDB arrives: S3 may take a quarter of an hour */
  async deliver(toDynamo = false): Promise<void> {
    const stays = ({ name }: LateCall) => toDynamo && name.startsWith('objects.')
    const late = this.#late.splice(0)
    this.#late.push(...late.filter(stays))
    for (const { apply } of late.filter((each) => !stays(each))) {
      await apply().catch(() => {})
      this.#stores.observe()
    }
  }
}
