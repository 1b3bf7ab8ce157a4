import { audit } from '../../../lib/audit/audit.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import { resolveExpiredReservations } from '../../../lib/ledger/resolve-expired-reservations.ts'
import { type Action, WORKSPACES, workspaceOf } from './action.ts'
import { Answers } from './answers.ts'
import { Drifts } from './drifts.ts'
import { checkBytes, checkCalls, checkRest, expectEqual } from './invariants.ts'
import { Processes } from './processes.ts'
import { deletion, download, listing, promotion } from './requests.ts'
import { LEASE_MS, Stores } from './stores.ts'

const HOUR_MS = 3_600_000
const { signal } = new AbortController()

/** The service on stores in memory, acted upon step by step, with what must be true after each. */
export class History {
  readonly #stores = new Stores()
  readonly #timeline = this.#stores.timeline
  readonly #drifts = new Drifts(this.#stores.ledger)
  readonly #answers = new Answers(this.#stores)
  readonly #processes = new Processes(this.#stores)
  #wasClockWrong = false
  readonly #wasQuotaLowered = new Set<WorkspaceId>()

  async act(action: Action): Promise<void> {
    if ('aheadMs' in action && action.aheadMs > 0) this.#wasClockWrong = true
    await this.#do(action)
    this.#stores.observe()
    await this.#processes.settle()
    this.#check()
  }

  /** Audits that have looked at everything. */
  get audits(): Drifts['audits'] {
    return this.#drifts.audits
  }

  /** Makes this many documents in each workspace, one a second, before anything else happens. */
  async begin(documents: number): Promise<void> {
    for (let file = 0; file < documents; file++) {
      for (let workspace = 0; workspace < WORKSPACES; workspace++) {
        this.#promote({ do: 'promote', workspace, file: 0, key: undefined })
      }
      await this.#processes.settle()
      await this.#runToTheEnd()
      this.#stores.nowMs += 1000
    }
  }

  async #runToTheEnd(): Promise<void> {
    for (let rounds = 0; this.#processes.running.length > 0; rounds++) {
      if (rounds > 1000) throw new Error('a process does not come to an end')
      for (const process of this.#processes.running) {
        process.pending?.decide('ok')
        this.#stores.observe()
      }
      await this.#processes.settle()
    }
    this.#check()
  }

  /** Lets everything come to rest, as in the hours after: then the audit must find nothing. */
  async end(): Promise<void> {
    await this.#processes.deliver()
    await this.#runToTheEnd()
    // One run resolves and leaves watches; the next looks after these; the last takes the workspace out of the index.
    for (const run of [1, 2, 3]) {
      this.#stores.nowMs += HOUR_MS
      await resolveExpiredReservations(
        { maxResolutions: 1000, timeoutEachMs: 1000 },
        this.#stores.dependencies(),
        signal,
      )
      this.#check()
      const drifts = this.#drifts.found()
      const found = (await this.#audit(true)).filter((finding) => !this.#mayRemain(finding))
      expectEqual(found, drifts, `the audit finds what was planted after run ${run} of the resolver`)
      expectEqual(await this.#audit(false), [], `the audit finds nothing more after run ${run} of the resolver`)
    }
    checkRest(this.#stores)
  }

  async #do(action: Action): Promise<void> {
    switch (action.do) {
      case 'promote':
        return this.#promote(action)
      case 'delete': {
        const document = this.#pick(action.document)
        if (document === undefined) return
        if (action.byApi) this.#processes.start('api delete', deletion(document, this.#timeline))
        else this.#processes.start('delete', (deps) => deleteDocument(document, deps, signal))
        this.#answers.wasDeleted = true
        return
      }
      case 'list':
        this.#processes.start('api list', listing(action, this.#timeline))
        return
      case 'download': {
        const document = this.#pick(action.document)
        if (document) this.#processes.start('api download', download(document, this.#timeline))
        return
      }
      case 'resolve':
        this.#processes.start(
          'resolver',
          (deps) => resolveExpiredReservations({ maxResolutions: 10, timeoutEachMs: 1000 }, deps, signal),
          action.aheadMs,
        )
        return
      case 'audit':
        this.#processes.start(
          'audit',
          (deps) =>
            this.#drifts.watch((options) =>
              audit({ repair: true, deleteLostDocuments: true, ...options }, deps, signal),
            ),
          action.aheadMs,
        )
        // It removes documents whose object is gone, and there are none: but it deletes.
        return
      case 'drift':
        return this.#drifts.plant(workspaceOf(action.workspace), action.bytes)
      case 'step': {
        const process = this.#processes.pick(action.process)
        if (process) this.#processes.decide(process, action.fate)
        return
      }
      case 'kill': {
        const process = this.#processes.pick(action.process)
        if (process) process.isKilled = true
        return
      }
      case 'overwrite':
        return this.#stores.overwrite(action.workspace, action.file, action.sizeBytes)
      case 'quota': {
        const workspaceId = workspaceOf(action.workspace)
        const workspace = this.#stores.ledger.workspaces.get(workspaceId)
        if (!workspace) return
        if (action.quotaBytes < workspace.quotaBytes) this.#wasQuotaLowered.add(workspaceId)
        // Done before anything else happens: the fake waits for nothing.
        void this.#stores.ledger.setQuota(workspaceId, action.quotaBytes, signal)
        return
      }
      case 'wait':
        // What is under way on the network arrives before a lease is over.
        if (action.durationMs >= LEASE_MS / 2) await this.#processes.deliver()
        this.#stores.nowMs += action.durationMs
        this.#processes.endFunctions()
        return
      case 'deliver':
        return this.#processes.deliver()
    }
  }

  #promote(action: Extract<Action, { do: 'promote' }>): void {
    const { file, key } = action
    const workspaceId = workspaceOf(action.workspace)
    const process = this.#processes.start(`promote ${workspaceId} ${file} ${key ?? ''}`, promotion(action))
    if (key !== undefined) this.#answers.expectOneDocument(process, `${workspaceId} ${key}`)
  }

  /** After a clock was wrong, something may be left that nobody is due to look at; the audit repairs it. */
  #mayRemain({ kind, isRepaired }: Finding): boolean {
    return this.#wasClockWrong && isRepaired && /^(expired_reservation|object_without_document)$/.test(kind)
  }

  /** Any document there ever was, but more often one that is still there. */
  #pick(index: number): WorkspaceDocument | undefined {
    const there = [...this.#stores.documents.documents.values()]
    const all = index % 3 === 0 ? this.#timeline.all : there
    return all[index % Math.max(1, all.length)]
  }

  async #audit(repair: boolean): Promise<Finding[]> {
    const findings: Finding[] = []
    await audit(
      { repair, deleteLostDocuments: repair, onFinding: (finding) => findings.push(finding) },
      this.#stores.dependencies(),
      signal,
    )
    return findings
  }

  /** What is true at every moment, whatever has happened. */
  #check(): void {
    const mayExceed = (workspaceId: WorkspaceId) => this.#drifts.wasPlanted || this.#wasQuotaLowered.has(workspaceId)
    checkBytes(this.#stores, this.#drifts, mayExceed)
    for (const process of this.#processes.all) {
      this.#answers.check(process)
      checkCalls(process, this.#stores)
    }
    if (this.#drifts.failure) throw new Error(this.#drifts.failure)
  }
}
