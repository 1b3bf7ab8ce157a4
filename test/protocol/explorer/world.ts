import { ServiceError } from '../../../lib/errors.ts'
import { cleanLedger } from '../../../lib/ledger/clean-ledger.ts'
import { hasExpired } from '../../../lib/ledger/expiry.ts'
import type { DueEntry, WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { type Call, FATES, type Fate, Process } from './process.ts'
import { expectEqual, Promises } from './promises.ts'
import { etagOf, handle, type Request, sizeOf } from './requests.ts'
import { LEASE_MS, Stores, WORKSPACE } from './stores.ts'

export type Move =
  | { do: 'begin'; process: number; request: Request }
  | { do: 'call'; process: number; call: number; fate: Fate }
  /** All that was sent late. */
  | { do: 'arrive' }
  | { do: 'pass'; ms: number }

export interface Circumstances {
  quotaBytes?: number
  /** Time passes for leases, not for processes: whatever they send arrives at any later time. */
  areLeasesWrong?: boolean
}

const FUNCTION_TIMEOUT_MS = 28_000
const LATE_COPY_MS = 900_000
export const READS = /find|read|list|head/i
const OPENS = /\.(begin|hold|beginRefund)$|setExpiry|CopyObject|erasures.change/
const FILES = 3
const { signal } = new AbortController()

/** The code under test on stores in memory, moved on one step at a time: who chooses the steps is somebody else. */
export class World {
  readonly stores: Stores
  readonly #circumstances: Circumstances
  readonly processes = new Map<number, Process>()
  /** Calls that were sent, and have not arrived. */
  readonly late: (Call & { sentAtMs: number; dueAtMs: number })[] = []
  /** All that has happened, one line for each move. */
  readonly story: string[] = []
  readonly promises: Promises

  private constructor(stores: Stores, circumstances: Circumstances, before?: Promises) {
    this.stores = stores
    this.#circumstances = circumstances
    this.promises = new Promises(stores, before)
  }

  static create(circumstances: Circumstances): World {
    const stores = new Stores()
    for (let file = 0; file < FILES; file++) {
      stores.files.set(`sandboxes/${WORKSPACE}/sess_1/file-${file}`, { sizeBytes: sizeOf(file), etag: etagOf(file) })
    }
    return new World(stores, circumstances)
  }

  /** The copy has a life of its own: no process is at work in it. */
  copy(): World {
    return new World(this.stores.copy(), this.#circumstances, this.promises)
  }

  /** Those that have not ended. */
  get running(): Process[] {
    return [...this.processes.values()].filter((process) => process.isRunning)
  }

  /** When it is done, all processes have ended or wait for their next call to be decided. */
  async apply(move: Move): Promise<void> {
    const process = 'process' in move ? this.processes.get(move.process) : undefined
    this.#tell(move, process)
    switch (move.do) {
      case 'begin':
        this.#begin(move.request, move.process)
        break
      case 'call': {
        const call = process?.waiting[move.call] as Call
        const dueAtMs = process?.isForCaller ? process.beganAtMs + LEASE_MS : Number.POSITIVE_INFINITY
        if ('later' in FATES[move.fate]) this.late.push({ ...call, sentAtMs: this.stores.nowMs, dueAtMs })
        await process?.decide(call, move.fate)
        break
      }
      case 'arrive':
        await this.#deliver()
        break
      case 'pass':
        await this.#pass(move.ms)
    }
    await this.#settle()
    this.promises.observe()
  }

  #begin(request: Request, at: number): void {
    const process = new Process(at, this.#completed(request), this.stores.nowMs)
    this.processes.set(at, process)
    this.promises.begin(process.request)
    const { aheadMs = 0 } = request as { aheadMs?: number }
    const deps = this.stores.dependencies(process.transport, { ...this.#circumstances, aheadMs })
    void process.start(handle(process.request, deps))
  }

  /** The rest of a request depends on the moment at which it begins. */
  #completed(request: Request): Request {
    if (request.do === 'resolve') return { ...request, entries: this.due(request.aheadMs) }
    if ((request.do !== 'delete' && request.do !== 'change_expiry') || request.of) return request
    const found = this.stores.items().filter(({ state }) => state !== 'pending' && state !== 'stray')
    return { ...request, of: found.at(-1) as WorkspaceDocument }
  }

  /** The index of due work, oldest first. */
  due(aheadMs = 0): DueEntry[] {
    const entries = this.stores.entries().filter(({ dueAtMs }) => dueAtMs <= this.stores.nowMs + aheadMs)
    return entries.toSorted((one, other) => one.dueAtMs - other.dueAtMs)
  }

  /** A call to DynamoDB arrives within its process's lease, one to S3 within a quarter of an hour, or never. */
  async #pass(ms: number): Promise<void> {
    const { stores } = this
    const areRight = !this.#circumstances.areLeasesWrong
    if (areRight) {
      await this.#deliver(({ name, sentAtMs, dueAtMs }) =>
        /CopyObject|DeleteObject/.test(name)
          ? sentAtMs + LATE_COPY_MS <= stores.nowMs + ms
          : ms >= LEASE_MS / 2 || dueAtMs <= stores.nowMs + ms,
      )
    }
    stores.nowMs += ms
    if (!areRight) return
    for (const process of this.running) {
      const mostMs = process.isForCaller ? FUNCTION_TIMEOUT_MS : LEASE_MS
      if (stores.nowMs - process.beganAtMs >= mostMs) process.isKilled = true
    }
  }

  async #deliver(isDue: (call: World['late'][number]) => boolean = () => true): Promise<void> {
    const late = this.late.splice(0)
    this.late.push(...late.filter((call) => !isDue(call)))
    for (const { apply } of late.filter(isDue)) {
      await apply().catch(() => {})
      this.promises.observe()
    }
  }

  async #settle(): Promise<void> {
    for (let rounds = 0; rounds < 1000; rounds++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (this.running.every(({ waiting }) => waiting.length > 0)) return
    }
    throw new Error('a process neither calls a store nor ends')
  }

  isPossible(call: Call, fate: Fate): boolean {
    // A call that opens is sent once.
    return !(fate === 'repeated' || fate === 'again') || !OPENS.test(call.name)
  }

  /** Begins this, and lets all processes go on to their ends. */
  async run(process: number, request: Request): Promise<void> {
    await this.apply({ do: 'begin', process, request })
    await this.goOn()
  }

  /** Lets all processes go on to their ends. */
  async goOn(isEnough: (process: Process) => boolean = () => false): Promise<void> {
    for (let moves = 0; moves < 10_000; moves++) {
      const [process] = this.running
      if (process === undefined || isEnough(process)) return
      const [index] = [...this.processes].find(([, each]) => each === process) ?? [0]
      await this.apply({ do: 'call', process: index, call: 0, fate: 'ok' })
    }
    throw new Error('a process does not come to an end')
  }

  /** @throws Error */
  check(): void {
    this.promises.check(this.processes.values())
  }

  /** Lets everything come to rest, undisturbed. @throws Error when something is left over */
  async rest(): Promise<void> {
    await this.apply({ do: 'arrive' })
    await this.goOn()
    for (let run = 0; run < 3; run++) {
      this.stores.nowMs += 1000 * 1000
      await this.run(100 + run, { do: 'resolve' })
      this.check()
    }
    if (this.stores.ledger()?.erasure) return this.#restErased()
    const mayStay = this.#circumstances.areLeasesWrong === true
    this.promises.checkResolved({ mayStay })
    const ledger = this.stores.ledger()
    const deps = this.stores.dependencies((_, __, apply) => apply(), this.#circumstances)
    if (ledger) await cleanLedger(ledger, deps, signal)
    this.promises.observe()
    this.check()
    this.promises.checkClean()
    const expired = this.stores.items().filter((item) => item.state === 'ready' && hasExpired(item, this.stores.nowMs))
    expectEqual(expired, [], 'what has expired is gone')
    for (const { outcome, name } of this.processes.values()) {
      if (outcome && 'error' in outcome && !(outcome.error instanceof ServiceError)) {
        throw new Error(`${name}: ${outcome.error}`, { cause: outcome.error })
      }
    }
  }

  /** However much a second look finds, in the end one finds nothing; and nothing is there, whatever comes later. */
  async #restErased(): Promise<void> {
    for (let run = 0; this.stores.ledger()?.erasure?.state !== 'erased'; run++) {
      if (run === 6) throw new Error('an erasure does not come to its end')
      await this.apply({ do: 'pass', ms: 1_300_000 })
      await this.run(200 + run, { do: 'erase' })
      this.check()
    }
  }

  #tell({ do: what, ...details }: Move, process: Process | undefined): void {
    const call = 'call' in details && process?.waiting[details.call]
    const isTold = call && `${process.name}: ${call.name} ${FATES[details.fate].told}`
    this.story.push(isTold || `${what} ${JSON.stringify(details)}`)
  }
}
