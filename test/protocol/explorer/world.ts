import { audit } from '../../../lib/audit/audit.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
import { hasExpired } from '../../../lib/ledger/expiry.ts'
import type { Attempt } from '../../../lib/ledger/ports/reservations.ts'
import { resolveDueWorkspaces } from '../../../lib/ledger/resolve-due-workspaces.ts'
import { LEASE_MS } from '../../support/ports.ts'
import { type Call, FATES, type Fate, Process } from './process.ts'
import { expectEqual, Promises } from './promises.ts'
import { handle, type Request } from './requests.ts'
import { type Circumstances, Stores, workspaceOf } from './stores.ts'

/** What may happen next. */
export type Move =
  | { do: 'begin'; process: number; request: Request }
  | { do: 'call'; process: number; call: number; fate: Fate }
  /** All that was sent late. */
  | { do: 'arrive' }
  | { do: 'pass'; ms: number }
  | { do: 'overwrite'; workspace: number; file: number; sizeBytes: number }
  | { do: 'quota'; workspace: number; quotaBytes: number }
  /** Somebody changes the used bytes behind the service's back. */
  | { do: 'drift'; workspace: number; bytes: number }

const FUNCTION_TIMEOUT_MS = 28_000
const LATE_COPY_MS = 900_000
const HOUR_MS = 3_600_000
export const READS = /find|read|list|next|usage|has|due/i
const OPENS = /take|ledger\.mark$|\.reserve$|reservations\.claim|record|copy|setQuota|setExpiry/
const { signal } = new AbortController()

/** The code under test on stores in memory, moved on one step at a time: who chooses the steps is somebody else. */
export class World {
  readonly stores: Stores
  readonly processes = new Map<number, Process>()
  /** What was sent, and has not arrived. */
  readonly late: (Call & { sentAtMs: number; dueAtMs: number })[] = []
  /** All that has happened, one line for each move. */
  readonly story: string[] = []
  readonly #promises: Promises

  constructor(circumstances: Circumstances = {}) {
    this.stores = new Stores(circumstances)
    this.#promises = new Promises(this.stores)
  }

  /** Those that have not ended. */
  get running(): Process[] {
    return [...this.processes.values()].filter((process) => process.isRunning)
  }

  /** All processes that do not wait for their next call to be decided have ended when it is done. */
  async apply(move: Move): Promise<void> {
    const process = 'process' in move ? this.processes.get(move.process) : undefined
    this.#tell(move, process)
    switch (move.do) {
      case 'begin':
        this.#begin(move.request, move.process)
        break
      case 'call': {
        const call = process?.waiting[move.call] as Call
        process?.decide(call, move.fate)
        // The lease of a caller's process began with it; the resolver takes new ones.
        const dueAtMs = process?.isForCaller ? process.beganAtMs + LEASE_MS : Number.POSITIVE_INFINITY
        if ('later' in FATES[move.fate]) this.late.push({ ...call, sentAtMs: this.stores.nowMs, dueAtMs })
        break
      }
      case 'arrive':
        await this.#deliver()
        break
      case 'pass':
        await this.#pass(move.ms)
        break
      case 'overwrite':
        this.stores.overwrite(move.workspace, move.file, move.sizeBytes)
        break
      case 'quota':
        await this.#setQuota(move.workspace, move.quotaBytes)
        break
      case 'drift':
        this.stores.drifts.plant(workspaceOf(move.workspace), move.bytes)
    }
    this.stores.observe()
    await this.#settle()
  }

  #begin(request: Request, at: number): void {
    const aheadMs = ('aheadMs' in request && request.aheadMs) || 0
    const process = new Process(at, request, this.stores, aheadMs)
    this.stores.wasClockWrong ||= aheadMs !== 0
    if (request.do === 'delete') this.#promises.mayGo.add(request.document.documentId)
    this.processes.set(at, process)
    const deps = this.stores.dependencies((...store) => process.gate(...store), aheadMs)
    void process.start(handle(request, deps, this.stores.drifts))
  }

  async #setQuota(workspace: number, quotaBytes: number): Promise<void> {
    const { ledger } = this.stores
    const shownBytes = (await ledger.usage(workspaceOf(workspace), signal))?.quotaBytes ?? 0
    const set = await ledger.setQuota(workspaceOf(workspace), { shownBytes, toBytes: quotaBytes }, signal)
    if (set && quotaBytes < shownBytes) this.#promises.mayExceed.add(workspaceOf(workspace))
  }

  /** What a process sends to DynamoDB arrives within its lease, what it sends to S3 within a quarter of an hour, or never. */
  async #pass(ms: number): Promise<void> {
    const { stores } = this
    if (!stores.areLeasesWrong) {
      await this.#deliver(({ name, sentAtMs, dueAtMs }) =>
        name.startsWith('objects.')
          ? sentAtMs + LATE_COPY_MS <= stores.nowMs + ms
          : ms >= LEASE_MS / 2 || dueAtMs <= stores.nowMs + ms,
      )
    }
    stores.nowMs += ms
    stores.wasSetBack ||= ms < 0
    for (const process of this.running) process.pass(stores)
    if (stores.areLeasesWrong) return
    for (const process of this.running) {
      // The administration's deletions have no time limit; one that sleeps for longer than its lease makes the lease wrong.
      const isInLease = process.request.do === 'delete' || process.request.do === 'expire'
      const mostMs = process.isForCaller ? FUNCTION_TIMEOUT_MS : isInLease ? LEASE_MS : undefined
      if (mostMs !== undefined && stores.nowMs - process.beganAtMs >= mostMs) process.isKilled = true
    }
  }

  async #deliver(isDue: (call: World['late'][number]) => boolean = () => true): Promise<void> {
    const late = this.late.splice(0)
    this.late.push(...late.filter((call) => !isDue(call)))
    for (const { apply } of late.filter(isDue)) {
      await apply().catch(() => {})
      this.stores.observe()
    }
  }

  async #settle(): Promise<void> {
    for (let rounds = 0; rounds < 1000; rounds++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (this.running.every(({ waiting }) => waiting.length > 0)) return
    }
    throw new Error('a process neither calls a store nor ends')
  }

  isPossible(process: Process, call: Call, fate: Fate): boolean {
    if (!('later' in FATES[fate])) return true
    // Nothing that is sent after the lease arrives late.
    const subjects = [...process.calls, call].map(({ args }) => args[0] as Partial<Attempt> | undefined)
    const lease = subjects.findLast((subject) => subject?.leaseExpiresAtMs !== undefined)?.leaseExpiresAtMs
    if (READS.test(call.name) || (lease !== undefined && lease <= this.stores.nowMs)) return false
    // What opens is sent once.
    return fate === 'late' || !OPENS.test(call.name)
  }

  /** Lets all processes go on undisturbed, to their ends. @param isThere ends it before a process's call */
  async goOn(isThere: (process: Process) => boolean = () => false): Promise<void> {
    for (let rounds = 0; rounds < 1000; rounds++) {
      for (const process of this.running) {
        if (isThere(process)) return
        await this.apply({ do: 'call', process: process.index, call: 0, fate: 'ok' })
        this.check()
      }
      if (this.running.length === 0) return
    }
    throw new Error('a process does not come to an end')
  }

  /** What is true at every moment. @throws Error */
  check(): void {
    this.#promises.check(this.processes.values())
  }

  /** Lets everything come to rest, undisturbed. @throws Error when something is left over or counted wrongly */
  async rest(): Promise<void> {
    await this.apply({ do: 'arrive' })
    await this.goOn()
    // One run resolves and leaves notes; the next looks after these; the last takes the workspace out of the index.
    for (const run of [1, 2, 3]) {
      // What expires after the first is not overdue until the last.
      this.stores.nowMs += run === 1 ? HOUR_MS : HOUR_MS / 3
      await resolveDueWorkspaces({ maxResolutions: 1000 }, this.stores.dependencies(), signal)
      this.stores.observe()
      if (run === 1) await this.#expire()
      this.check()
      if (run === 2) continue
      const drifts = this.stores.drifts.found()
      const found = (await this.#audit(true)).filter((finding) => !this.#mayRemain(finding))
      expectEqual(found, drifts, `the audit finds what was planted after run ${run} of the resolver`)
    }
    expectEqual(await this.#audit(false), [], 'the audit finds nothing more')
    this.#promises.checkRest()
  }

  /** Whatever became of others, one undisturbed process deletes all that has expired. */
  async #expire(): Promise<void> {
    await this.apply({ do: 'begin', process: this.processes.size, request: { do: 'expire' } })
    await this.goOn()
    const left = [...this.stores.documents.documents.values()].filter((each) => hasExpired(each, this.stores.nowMs))
    expectEqual(left, [], 'what has expired is gone')
  }

  /** If a lease is wrong, an object without a document can remain, or a deletion that nobody is due to finish. */
  #mayRemain({ kind, isRepaired }: Finding): boolean {
    const { areLeasesWrong, wasClockWrong } = this.stores
    return (areLeasesWrong || wasClockWrong) && isRepaired && /^(old_leftover|object_without_document)$/.test(kind)
  }

  async #audit(repair: boolean): Promise<Finding[]> {
    const findings: Finding[] = []
    const onFinding = (finding: Finding) => findings.push(finding)
    await audit({ repair, deleteLostDocuments: repair, onFinding }, this.stores.dependencies(), signal)
    return findings
  }

  #tell({ do: what, ...details }: Move, process: Process | undefined): void {
    const call = 'call' in details && process?.waiting[details.call]
    const isTold = call && `${process.name}: ${call.name} ${FATES[details.fate].told}`
    this.story.push(isTold || `${what} ${JSON.stringify(details)}`)
  }
}
