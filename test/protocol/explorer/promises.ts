import type { ListedDocument } from '../../../lib/documents/document-listing.ts'
import { ServiceError } from '../../../lib/errors.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { hasExpired } from '../../../lib/ledger/expiry.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import type { MarkedRelease } from '../../../lib/ledger/ports/reservations.ts'
import type { Promotion } from '../../../lib/promotion/promotion.ts'
import type { Process } from './process.ts'
import type { RequestTo } from './requests.ts'
import { type Stores, workspaceOf } from './stores.ts'

/** What docs/reliability.md promises, in its words: what is said of lists and audits is in timeline.ts and drifts.ts. */
export class Promises {
  readonly #stores: Stores
  readonly #answered = new Set<Process>()
  /** By workspace and idempotency key: the document of the first 200. */
  readonly #documentOfKey = new Map<string, string>()
  /** By attempt, the processes whose callers were told that it made no document. */
  readonly #refused = new Map<string, string>()
  /** Documents that somebody wanted to delete. */
  readonly mayGo = new Set<string>()
  /** Workspaces whose quota was lowered. */
  readonly mayExceed = new Set<WorkspaceId>()

  constructor(stores: Stores) {
    this.#stores = stores
  }

  /** What is true at every moment, whatever has happened. @throws Error */
  check(processes: Iterable<Process>): void {
    this.#checkBytes()
    for (const process of processes) {
      checkMarkers(process, this.#stores)
      if (process.outcome && !this.#answered.has(process)) this.#checkAnswer(process, process.outcome)
    }
    this.#checkDocuments()
    const { drifts, timeline, areLeasesWrong, wasClockWrong, wasSetBack } = this.#stores
    const { failure } = drifts
    if (timeline.revived && !areLeasesWrong && !wasClockWrong && !wasSetBack)
      throw new Error(`document ${timeline.revived.documentId} had expired, and is there again`)
    if (failure) throw new Error(failure)
  }

  /** "Bytes are counted, exactly once, while one thing holds them." "The quota is never exceeded." */
  #checkBytes(): void {
    const { ledger, drifts, maxTakings } = this.#stores
    for (const [workspaceId, { quotaBytes, remainingBytes, takings }] of ledger.workspaces) {
      const held = [...holders(workspaceId, this.#stores).values()].reduce((sum, sizeBytes) => sum + sizeBytes, 0)
      expectEqual(quotaBytes - remainingBytes, held + drifts.of(workspaceId), `${workspaceId} counts what is held`)
      if (remainingBytes < 0 && !drifts.wasPlanted && !this.mayExceed.has(workspaceId))
        throw new Error(`${workspaceId} is over its quota`)
      // Those of dead processes, which began ten seconds before the last, take no room.
      const leases = [...takings.values()].map(({ leaseExpiresAtMs }) => leaseExpiresAtMs)
      if (leases.filter((lease) => lease >= Math.max(...leases) - 10_000).length > maxTakings)
        throw new Error('more takings than there is room for')
    }
  }

  /** "A document that is visible is durable." No document is lost, and none was denied to its caller. */
  #checkDocuments(): void {
    const { documents, objects, timeline, expiredByMs } = this.#stores
    for (const { documentId, attemptId, objectKey, sizeBytes } of documents.documents.values()) {
      const object = objects.documents.get(objectKey)
      expectEqual(object?.bytes.length, sizeBytes, `document ${documentId} has its bytes`)
      const name = this.#refused.get(attemptId)
      if (name) throw new Error(`${name} was answered an error, or with the document of a twin, and there is its own`)
    }
    const mayGo = (each: WorkspaceDocument) => this.mayGo.has(each.documentId) || hasExpired(each, expiredByMs)
    const lost = timeline.deleted.find((each) => !mayGo(each))
    if (lost) throw new Error(`document ${lost.documentId} is gone, and nobody deleted it`)
  }

  /** Looked at once, at the moment of the answer. */
  #checkAnswer(process: Process, outcome: NonNullable<Process['outcome']>): void {
    this.#answered.add(process)
    const { name, request, beganAt, isForCaller, leastMs, mostMs } = process
    const error = 'error' in outcome ? outcome.error : undefined
    if (error && isForCaller && !(error instanceof ServiceError)) throw new Error(`${name}: ${error}`, { cause: error })
    const reason = error instanceof ServiceError ? error.reason : undefined
    const { timeline } = this.#stores
    if (request.do === 'promote') this.#checkPromotion(process, request, 'value' in outcome ? outcome.value : undefined)
    if (request.do === 'list' && 'value' in outcome) {
      const [workspaceId, pages] = [workspaceOf(request.workspace), outcome.value as ListedDocument[][]]
      timeline.checkList({ ...request, workspaceId, pages, from: beganAt, mostMs })
    }
    const shown = 'value' in outcome ? shownIn(outcome.value) : []
    if (shown.some((each) => hasExpired(each, leastMs))) throw new Error(`${name}: shows a document after its end`)
    if (request.do !== 'download' && !(request.do === 'delete' && request.byApi)) return
    const wasThere = timeline.since(beganAt, request.document, mostMs)
    const isDenied = request.do === 'delete' ? !error : reason === 'document_not_found'
    if (isDenied && wasThere.all) throw new Error(`${name}: said to be gone, and was there all the time`)
    if (reason === 'document_expired' && wasThere.all && !wasThere.hasExpired)
      throw new Error(`${name}: said to have expired, and had not`)
    if (request.do === 'download' && !error && !wasThere.some) throw new Error(`${name}: answered, and was not there`)
    if (reason === 'file_not_downloadable') throw new Error(`${name}: the object is lost`)
  }

  #checkPromotion(process: Process, { key }: RequestTo<'promote'>, promotion: unknown): void {
    const document = (promotion as Promotion | undefined)?.document
    this.#expectNoOther(process, document?.attemptId)
    if (!document) return
    if (!this.#stores.timeline.all.some(({ attemptId }) => attemptId === document.attemptId))
      throw new Error(`${process.name}: answered 200, but there is no document`)
    if (key === undefined) return
    const owner = `${document.workspaceId} ${key}`
    const first = this.#documentOfKey.get(owner) ?? document.documentId
    this.#documentOfKey.set(owner, first)
    expectEqual(document.documentId, first, `${process.name}: one idempotency key, one document`)
  }

  /** "A 4xx or 5xx answer to a promotion means: no new document", now or later. */
  #expectNoOther(process: Process, answeredWith: string | undefined): void {
    // The one exception: neither the record's answer nor the fence's arrived.
    const isFenceLost = process.calls.some(
      ({ name, fate }) => name === 'documents.fence' && fate !== 'ok' && fate !== 'repeated',
    )
    if (isFenceLost) return
    for (const { name, args } of process.calls) {
      if (name !== 'documents.record') continue
      const { attemptId } = args[0] as WorkspaceDocument
      if (attemptId !== answeredWith) this.#refused.set(attemptId, process.name)
    }
  }

  /** "Nothing stays counted that was not kept": what is true when everything has come to rest. @throws Error */
  checkRest(): void {
    const { ledger, reservations, documents, objects } = this.#stores
    for (const [workspaceId, workspace] of ledger.workspaces) {
      const { quotaBytes, remainingBytes, takings, releases, checkDueAtMs } = workspace
      const bytes = this.#stores.documentsOf(workspaceId).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
      expectEqual(quotaBytes - remainingBytes, bytes, `${workspaceId} counts its documents to the byte`)
      expectEqual([...takings, ...releases], [], `${workspaceId} has no marker left`)
      expectEqual(checkDueAtMs, undefined, `${workspaceId} is looked at no more`)
    }
    // What holds no bytes, of a process that died before it took any, stays until somebody looks at the workspace.
    const left = [...reservations.items.values()].filter(({ purpose }) => purpose === 'promotion')
    expectEqual(left, [], 'no reservation is left')
    const unfinished = [...documents.tombstones.values()].filter(({ expiresAtMs }) => expiresAtMs === undefined)
    expectEqual(unfinished, [], 'no deletion is left unfinished')
    const keys = new Set([...documents.documents.values()].map(({ objectKey }) => objectKey))
    const loose = [...objects.documents.keys()].filter((key) => !keys.has(key))
    expectEqual(loose, [], 'no object is left without a document')
  }
}

/** What was there before: the documents of a list, of a download, and of a promotion that another one had made. */
function shownIn(value: unknown): Pick<WorkspaceDocument, 'expiresAt'>[] {
  if (Array.isArray(value)) return value.flat()
  const { document, download, isReplayed, outcome } = (value ?? {}) as Record<string, unknown>
  return document && (download || isReplayed || outcome === 'kept') ? [document] : []
}

/** "A marker stands in the ledger for milliseconds; of a deletion or an undo, never while S3 is called." */
function checkMarkers({ name, waiting, calls }: Process, { ledger }: Stores): void {
  const discarded = waiting.flatMap(({ name, args }) => (name === 'objects.discard' ? [String(args[0])] : []))
  if (discarded.length === 0) return
  for (const call of calls) {
    if (call.name !== 'ledger.mark') continue
    const { workspaceId, attemptId, releaseId } = call.args[0] as MarkedRelease
    const isMarked = ledger.workspaces.get(workspaceId)?.releases.has(releaseId)
    if (isMarked && discarded.some((objectKey) => objectKey.endsWith(attemptId)))
      throw new Error(`${name} calls S3 while its release stands in the ledger`)
  }
}

/** All attempts that hold bytes, each once: docs/reliability.md, "The protocol". */
export function holders(workspaceId: WorkspaceId, stores: Stores): Map<string, number> {
  const { takings, releases } = stores.ledger.workspaces.get(workspaceId) ?? { takings: new Map(), releases: new Map() }
  const held = new Map<string, number>()
  const isReleased = (releasedBy: string | undefined) => releasedBy !== undefined && !releases.has(releasedBy)
  for (const { attemptId, sizeBytes } of stores.documentsOf(workspaceId)) held.set(attemptId, sizeBytes)
  for (const { attemptId, sizeBytes } of takings.values()) {
    // The marker of a deleted document came from a backup: the resolver takes it away.
    const isDeleted = stores.timeline.deleted.some((document) => document.attemptId === attemptId)
    if (!isDeleted) held.set(attemptId, sizeBytes)
  }
  for (const { workspaceId: owner, attemptId, sizeBytes, purpose, releasedBy } of stores.reservations.items.values()) {
    if (owner === workspaceId && purpose === 'promotion' && !isReleased(releasedBy)) held.set(attemptId, sizeBytes)
  }
  for (const { document, releasedBy, expiresAtMs } of stores.documents.tombstones.values()) {
    const holds = document?.workspaceId === workspaceId && expiresAtMs === undefined && !isReleased(releasedBy)
    if (holds) held.set(document.attemptId, document.sizeBytes)
  }
  return held
}

export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (Object.is(actual, expected)) return
  const [is, shouldBe] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== shouldBe) throw new Error(`${what}: ${is} instead of ${shouldBe}`)
}
