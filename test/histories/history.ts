import { ServiceError } from '../../lib/errors.ts'
import { deleteDocumentForCaller } from '../../lib/files/delete-document.ts'
import type { DocumentListing, ListedDocument, ListOrder } from '../../lib/files/document-listing.ts'
import { downloadDocument } from '../../lib/files/download-document.ts'
import { listDocuments } from '../../lib/files/list-documents.ts'
import { type DocumentId, formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import type { Log } from '../../lib/logging.ts'
import { audit } from '../../lib/maintenance/audit.ts'
import type { Finding } from '../../lib/maintenance/findings.ts'
import { resolveExpiredReservations } from '../../lib/maintenance/resolve-expired-reservations.ts'
import { createObjectKeys } from '../../lib/object-keys.ts'
import { createAdmission } from '../../lib/promotion/admission.ts'
import { deleteDocument } from '../../lib/promotion/delete-document.ts'
import type { WorkspaceDocument } from '../../lib/promotion/document-records.ts'
import { type Promotion, promoteContainerFile } from '../../lib/promotion/promote-container-file.ts'
import type { Reservation } from '../../lib/promotion/reservations.ts'
import { createTelemetry } from '../../lib/telemetry.ts'
import { createFakeDocumentListing } from '../fakes/document-listing.ts'
import { createFakeDocumentRecords } from '../fakes/document-records.ts'
import { createFakeDownloadSigner } from '../fakes/download-signer.ts'
import { createFakeObjectStore } from '../fakes/object-store.ts'
import { createFakeQuotaLedger } from '../fakes/quota-ledger.ts'
import { createFakeReservations } from '../fakes/reservations.ts'
import { Drifts } from './drifts.ts'
import { type Fate, type PendingCall, Process } from './process.ts'
import { Timeline } from './timeline.ts'

export type Action =
  | { do: 'promote'; workspace: number; file: number; key: number | undefined }
  /** Of any document there ever was, by a caller or by the administration. */
  | { do: 'delete'; document: number; byApi: boolean }
  /** @param lags how far behind the index's entries are, in moments */
  | { do: 'list'; workspace: number; order: ListOrder; limit: number; lags: number[] }
  | { do: 'download'; document: number }
  | { do: 'resolve' }
  | { do: 'audit' }
  /** Somebody changes the used bytes behind the service's back. */
  | { do: 'drift'; workspace: number; bytes: number }
  | { do: 'step'; process: number; fate: Fate }
  | { do: 'kill'; process: number }
  | { do: 'overwrite'; workspace: number; file: number; sizeBytes: number }
  | { do: 'quota'; workspace: number; quotaBytes: number }
  | { do: 'wait'; durationMs: number }
  | { do: 'deliver' }

export const WORKSPACES = 2
export const FILES = 3
const LEASE_MS = 120_000
const HOUR_MS = 3_600_000
const FUNCTION_TIMEOUT_MS = 28_000
const READS = /find|read|list|usage|has|due/i
/** What a function does for a caller: its process ends with the function's time. */
const FOR_CALLER = /^(promote|api)/
const OPENS = /take|ledger\.mark$|\.open$|forestall|record|copy|setQuota/
const SILENT: Log = { info() {}, warn() {}, error() {}, with: () => SILENT }
const { signal } = new AbortController()
const DEADLINE = { signal, undoSignal: () => signal }

/** The service on stores in memory, acted upon step by step, with what must be true after each. */
export class History {
  readonly #ledger = createFakeQuotaLedger({ defaultQuotaBytes: 100, now: () => this.#nowMs })
  readonly #reservations = createFakeReservations()
  readonly #documents = createFakeDocumentRecords()
  readonly #objects = createFakeObjectStore()
  readonly #objectKeys = createObjectKeys({
    sandbox: 'sandboxes/{workspace_id}/{container_id}/{path}',
    document: 'documents/{workspace_id}/{document_id}/{attempt_id}',
  })
  readonly #late: (() => Promise<unknown>)[] = []
  readonly #processes: Process[] = []
  readonly #answered = new Set<Process>()
  readonly #startedAtMs = new Map<Process, number>()
  /** By workspace and idempotency key: the document of the first 200. */
  readonly #documentOfKey = new Map<string, string>()
  readonly #keyOf = new Map<Process, string>()
  readonly #wasQuotaLowered = new Set<WorkspaceId>()
  readonly #timeline = new Timeline()
  readonly #drifts = new Drifts(this.#ledger)
  #wasDeleted = false
  #nowMs = 1_800_000_000_000
  #content = 0

  constructor() {
    for (let workspace = 0; workspace < WORKSPACES; workspace++) {
      for (let file = 0; file < FILES; file++) this.#overwrite(workspace, file, 10 * (file + 1))
    }
  }

  async act(action: Action): Promise<void> {
    await this.#do(action)
    this.#observe()
    await this.#settle()
    await this.#check()
  }

  /** Audits that have looked at everything. */
  get audits(): Drifts['audits'] {
    return this.#drifts.audits
  }

  /** As many documents in each workspace, one a second, before anything happens to anybody. */
  async begin(documents: number): Promise<void> {
    for (let file = 0; file < documents; file++) {
      for (let workspace = 0; workspace < WORKSPACES; workspace++) {
        this.#promote({ do: 'promote', workspace, file: 0, key: undefined })
      }
      await this.#settle()
      await this.#runToTheEnd()
      this.#nowMs += 1000
    }
  }

  async #runToTheEnd(): Promise<void> {
    for (let rounds = 0; this.#running().length > 0; rounds++) {
      if (rounds > 1000) throw new Error('a process does not come to an end')
      for (const process of this.#running()) {
        process.pending?.decide('ok')
        this.#observe()
      }
      await this.#settle()
    }
    await this.#check()
  }

  /** Lets everything come to rest, as in the hours after: then the audit must find nothing. */
  async end(): Promise<void> {
    await this.#deliver()
    await this.#runToTheEnd()
    // One run resolves and leaves watches; the next looks after these; the last takes the workspace out of the index.
    for (const run of [1, 2, 3]) {
      this.#nowMs += HOUR_MS
      await resolveExpiredReservations({ maxResolutions: 1000, timeoutEachMs: 1000 }, this.dependencies(), signal)
      await this.#check()
      const drifts = this.#drifts.found()
      expectEqual(await this.#audit(true), drifts, `the audit finds what was planted after run ${run} of the resolver`)
      expectEqual(await this.#audit(false), [], `the audit finds nothing more after run ${run} of the resolver`)
    }
    for (const [workspaceId, workspace] of this.#ledger.workspaces) {
      const { quotaBytes, remainingBytes, takings, releases, checkDueAtMs } = workspace
      const bytes = this.#documentsOf(workspaceId).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
      expectEqual(quotaBytes - remainingBytes, bytes, `${workspaceId} counts its documents to the byte`)
      expectEqual([...takings, ...releases], [], `${workspaceId} has no marker left`)
      expectEqual(checkDueAtMs, undefined, `${workspaceId} is looked at no more`)
    }
    expectEqual([...this.#reservations.items.values()], [], 'no reservation is left')
    const unfinished = [...this.#documents.tombstones.values()].filter(({ isFinished }) => !isFinished)
    expectEqual(unfinished, [], 'no deletion is left unfinished')
    const keys = new Set([...this.#documents.documents.values()].map(({ objectKey }) => objectKey))
    const loose = [...this.#objects.documents.keys()].filter((key) => !keys.has(key))
    expectEqual(loose, [], 'no object is left without a document')
  }

  async #do(action: Action): Promise<void> {
    switch (action.do) {
      case 'promote':
        return this.#promote(action)
      case 'delete': {
        const document = this.#pick(action.document)
        if (document === undefined) return
        if (action.byApi) this.#deleteForCaller(document)
        else this.#start('delete', (deps) => deleteDocument(document, deps, signal))
        this.#wasDeleted = true
        return
      }
      case 'list':
        return this.#list(action)
      case 'download': {
        const document = this.#pick(action.document)
        if (document) this.#download(document)
        return
      }
      case 'resolve':
        this.#start('resolver', (deps) =>
          resolveExpiredReservations({ maxResolutions: 10, timeoutEachMs: 1000 }, deps, signal),
        )
        return
      case 'audit':
        this.#start('audit', (deps) =>
          this.#drifts.watch((options) => audit({ repair: true, deleteLostDocuments: true, ...options }, deps, signal)),
        )
        // It removes documents whose object is gone, and there are none: but it deletes.
        return
      case 'drift':
        return this.#drifts.plant(workspaceOf(action.workspace), action.bytes)
      case 'step': {
        const running = this.#running()
        const process = running[action.process % Math.max(1, running.length)]
        const call = process?.pending
        if (process && call) this.#decide(process, call, action.fate)
        return
      }
      case 'kill': {
        const running = this.#running()
        const process = running[action.process % Math.max(1, running.length)]
        if (process) process.isKilled = true
        return
      }
      case 'overwrite':
        return this.#overwrite(action.workspace, action.file, action.sizeBytes)
      case 'quota': {
        const workspaceId = workspaceOf(action.workspace)
        const workspace = this.#ledger.workspaces.get(workspaceId)
        if (!workspace) return
        if (action.quotaBytes < workspace.quotaBytes) this.#wasQuotaLowered.add(workspaceId)
        // Done before anything else happens: the fake waits for nothing.
        void this.#ledger.setQuota(workspaceId, action.quotaBytes, signal)
        return
      }
      case 'wait':
        // What is under way on the network arrives before a lease is over.
        if (action.durationMs >= LEASE_MS / 2) await this.#deliver()
        this.#nowMs += action.durationMs
        this.#endFunctions()
        return
      case 'deliver':
        return this.#deliver()
    }
  }

  #decide(process: Process, call: PendingCall, fate: Fate): void {
    // What comes late comes within the lease (docs/reliability.md): so nothing that is sent after it comes late.
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
    return lease !== undefined && lease <= this.#nowMs
  }

  #promote({ workspace, file, key }: Extract<Action, { do: 'promote' }>): void {
    const workspaceId = workspaceOf(workspace)
    const process = this.#start(`promote ${workspaceId} ${file} ${key ?? ''}`, (deps) =>
      promoteContainerFile(
        {
          caller: { keyId: 'key', workspaceId, kind: 'management', permissions: [], userId: undefined },
          containerId: 'sess_1',
          fileId: formatFileId(`file-${file}`),
          idempotencyKey: key === undefined ? undefined : `key-${key}`,
          rateLimitPassed: Promise.resolve(),
          deadline: DEADLINE,
          log: SILENT,
          telemetry: createTelemetry(),
        },
        deps,
      ),
    )
    if (key !== undefined) this.#keyOf.set(process, `${workspaceId} ${key}`)
  }

  /** Any document there ever was, of those that are there rather than of the others. */
  #pick(index: number): WorkspaceDocument | undefined {
    const there = [...this.#documents.documents.values()]
    const all = index % 3 === 0 ? this.#timeline.all : there
    return all[index % Math.max(1, all.length)]
  }

  #deleteForCaller({ workspaceId, documentId }: WorkspaceDocument): void {
    const from = this.#timeline.moment
    this.#start('api delete', async (deps) => {
      await deleteDocumentForCaller({ workspaceId, documentId, log: SILENT }, deps, signal)
      if (this.#timeline.presence(documentId, workspaceId, from, this.#timeline.moment) === 'all')
        throw new Error(`${documentId}: answered 200, and was there all the time`)
    })
  }

  #list({ workspace, order, limit, lags }: Extract<Action, { do: 'list' }>): void {
    const workspaceId = workspaceOf(workspace)
    const from = this.#timeline.moment
    this.#start('api list', async ({ listingBehind, ...deps }) => {
      const pages: ListedDocument[][] = []
      let cursor: string | undefined
      do {
        const after = cursor === undefined ? undefined : { cursor }
        const listing = listingBehind((documentId) => {
          const number = [...documentId].reduce((sum, char) => sum + char.charCodeAt(0), pages.length)
          return lags[number % lags.length] ?? 0
        })
        const { documents, nextCursor } = await listDocuments(
          { workspaceId, order, limit, after },
          { ...deps, listing },
          signal,
        )
        pages.push(documents)
        cursor = nextCursor
      } while (cursor !== undefined)
      this.#timeline.checkList({ workspaceId, order, limit, from, to: this.#timeline.moment, pages })
    })
  }

  #download({ workspaceId, documentId }: WorkspaceDocument): void {
    const from = this.#timeline.moment
    const presence = () => this.#timeline.presence(documentId, workspaceId, from, this.#timeline.moment)
    this.#start('api download', async (deps) => {
      try {
        await downloadDocument({ workspaceId, documentId, asAnyType: false, log: SILENT }, deps, signal)
      } catch (error) {
        const reason = error instanceof ServiceError ? error.reason : undefined
        if (reason === 'file_not_downloadable') throw new Error(`${documentId}: its object is lost`)
        if (reason === 'document_not_found' && presence() === 'all')
          throw new Error(`${documentId}: answered 404, and was there all the time`)
        throw error
      }
      if (presence() === 'none') throw new Error(`${documentId}: answered 302, and was not there`)
    })
  }

  #start(name: string, work: (deps: ReturnType<History['dependencies']>) => Promise<unknown>): Process {
    const process = new Process(name, this.#late)
    this.#processes.push(process)
    this.#startedAtMs.set(process, this.#nowMs)
    process.start(() => work(this.dependencies(process)))
    return process
  }

  /** The service's ports, for a process that stops at each of their calls, or for none. */
  dependencies(process?: Process) {
    const gate = <Store extends object>(store: Store, name: string): Store => process?.gate(store, name) ?? store
    return {
      ledger: gate(this.#ledger, 'ledger'),
      ledgers: gate(this.#ledger, 'ledger'),
      reservations: gate(this.#reservations, 'reservations'),
      admission: createAdmission({ now: () => this.#nowMs }),
      documents: gate(this.#documents, 'documents'),
      objects: gate(this.#objects, 'objects'),
      documentObjects: gate(this.#objects, 'objects'),
      downloads: createFakeDownloadSigner(),
      listing: gate(createFakeDocumentListing(this.#documents), 'listing'),
      /** As the index has them whose entries are behind, each by a delay of its own. */
      listingBehind: (lagOf: (documentId: string) => number): DocumentListing => {
        const timeline = this.#timeline
        const index = createFakeDocumentListing({
          ...this.#documents,
          get documents() {
            return timeline.asIndexed(lagOf)
          },
        })
        return gate(index, 'listing')
      },
      objectKeys: this.#objectKeys,
      maxFileBytes: 1000,
      leaseMs: LEASE_MS,
      now: () => this.#nowMs,
      log: SILENT,
    }
  }

  /** A function is stopped when its time is over; an administration command is not. */
  #endFunctions(): void {
    for (const process of this.#running()) {
      const isFunction = FOR_CALLER.test(process.name)
      if (isFunction && this.#nowMs - (this.#startedAtMs.get(process) ?? 0) >= FUNCTION_TIMEOUT_MS)
        process.isKilled = true
    }
  }

  #running(): Process[] {
    return this.#processes.filter((process) => process.isRunning)
  }

  /** Until every process waits for its next call to be decided, or has ended. */
  async #settle(): Promise<void> {
    for (let rounds = 0; rounds < 1000; rounds++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (this.#running().every((process) => process.pending !== undefined)) return
    }
    throw new Error('a process neither calls a store nor ends')
  }

  async #deliver(): Promise<void> {
    for (const apply of this.#late.splice(0)) {
      await apply().catch(() => {})
      this.#observe()
    }
  }

  #observe(): void {
    this.#timeline.observe(this.#documents.documents)
  }

  #overwrite(workspace: number, file: number, sizeBytes: number): void {
    const key = `sandboxes/${workspaceOf(workspace)}/sess_1/file-${file}`
    this.#objects.sandbox.set(key, { bytes: Buffer.alloc(sizeBytes, this.#content++), contentType: 'text/plain' })
  }

  #documentsOf(workspaceId: WorkspaceId): WorkspaceDocument[] {
    return [...this.#documents.documents.values()].filter((document) => document.workspaceId === workspaceId)
  }

  async #audit(repair: boolean): Promise<Finding[]> {
    const findings: Finding[] = []
    await audit(
      { repair, deleteLostDocuments: repair, onFinding: (finding) => findings.push(finding) },
      this.dependencies(),
      signal,
    )
    return findings
  }

  /** What is true at every moment, whatever has happened. */
  async #check(): Promise<void> {
    for (const [workspaceId, { quotaBytes, remainingBytes }] of this.#ledger.workspaces) {
      const bytes = (await this.#heldBytes(workspaceId)) + this.#drifts.of(workspaceId)
      expectEqual(quotaBytes - remainingBytes, bytes, `${workspaceId} counts what is held to the byte`)
      if (!this.#wasQuotaLowered.has(workspaceId) && remainingBytes < 0 && !this.#drifts.wasPlanted)
        throw new Error(`${workspaceId} is over its quota`)
    }
    for (const document of this.#documents.documents.values()) {
      const object = this.#objects.documents.get(document.objectKey)
      expectEqual(object?.bytes.length, document.sizeBytes, `document ${document.documentId} has its bytes`)
    }
    for (const process of this.#processes) this.#checkAnswer(process)
    if (this.#drifts.failure) throw new Error(this.#drifts.failure)
  }

  /** The bytes of all attempts that hold some, each once: docs/reliability.md, "Who holds the bytes". */
  async #heldBytes(workspaceId: WorkspaceId): Promise<number> {
    const { takings, releases } = this.#ledger.workspaces.get(workspaceId) ?? {
      takings: new Map(),
      releases: new Map(),
    }
    const held = new Map<string, number>()
    for (const { attemptId, sizeBytes } of this.#documentsOf(workspaceId)) held.set(attemptId, sizeBytes)
    for (const { attemptId, sizeBytes } of takings.values()) held.set(attemptId, sizeBytes)
    for (const { workspaceId: owner, attemptId, sizeBytes, purpose, closedBy } of this.#reservations.items.values()) {
      const isReleased = closedBy !== undefined && !releases.has(closedBy)
      if (owner === workspaceId && purpose === 'promotion' && !isReleased) held.set(attemptId, sizeBytes)
    }
    for (const release of releases.values()) {
      const isRetired = this.#documents.tombstones.get(keyOf(release))?.retiredBy === release.releaseId
      if (release.purpose === 'deletion' && isRetired) held.set(release.attemptId, release.sizeBytes)
    }
    return [...held.values()].reduce((sum, sizeBytes) => sum + sizeBytes, 0)
  }

  /** Looked at once, at the moment of the answer. */
  #checkAnswer(process: Process): void {
    if (!FOR_CALLER.test(process.name) || process.outcome === undefined || this.#answered.has(process)) return
    this.#answered.add(process)
    if (process.name.startsWith('api')) {
      if ('error' in process.outcome && !(process.outcome.error instanceof ServiceError)) throw process.outcome.error
      return
    }
    const recorded = process.calls.filter(({ name, result }) => name === 'documents.record' && result === 'recorded')
    if ('value' in process.outcome) {
      const { document } = process.outcome.value as Promotion
      const isThere = this.#documents.documents.has(`${document.workspaceId}/${document.documentId}`)
      if (!this.#wasDeleted && !isThere) throw new Error(`${process.name}: answered 200, but there is no document`)
      this.#checkKey(process, document.documentId)
      return
    }
    const { error } = process.outcome
    if (!(error instanceof ServiceError)) throw new Error(`${process.name}: an unforeseen failure`, { cause: error })
    // The one exception: neither the record's answer nor the fence's arrived.
    const isFenceLost = process.calls.some(
      ({ name, fate }) => name === 'documents.fence' && fate !== 'ok' && fate !== 'repeated',
    )
    for (const { args } of recorded) {
      const { workspaceId, documentId, attemptId } = args[0] as WorkspaceDocument
      const there = this.#documents.documents.get(`${workspaceId}/${documentId}`)
      if (there?.attemptId === attemptId && !isFenceLost)
        throw new Error(`${process.name}: answered ${error.status}, but there is a document`)
    }
  }

  #checkKey(process: Process, documentId: DocumentId): void {
    const key = this.#keyOf.get(process)
    if (key === undefined) return
    const first = this.#documentOfKey.get(key) ?? documentId
    this.#documentOfKey.set(key, first)
    expectEqual(documentId, first, `${process.name}: one idempotency key, one document`)
  }
}

const keyOf = ({ workspaceId, documentId }: Pick<WorkspaceDocument, 'workspaceId' | 'documentId'>) =>
  `${workspaceId}/${documentId}`
const workspaceOf = (index: number) => `ws_${index % WORKSPACES}` as WorkspaceId

function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (Object.is(actual, expected)) return
  const [is, shouldBe] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== shouldBe) throw new Error(`${what}: ${is} instead of ${shouldBe}`)
}
