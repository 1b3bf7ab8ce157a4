import { ServiceError } from '../../../lib/errors.ts'
import type { AttemptId } from '../../../lib/ids.ts'
import { hasExpired } from '../../../lib/ledger/expiry.ts'
import type { DocumentItem, Stray, WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import type { WorkspaceLedger } from '../../../lib/ledger/ports/ledger.ts'
import type { Promotion } from '../../../lib/promotion/promotion.ts'
import type { Process } from './process.ts'
import type { Audited, Request } from './requests.ts'
import type { Stores } from './stores.ts'

type Counted = Exclude<DocumentItem, { state: 'pending' }>
const isCountedItem = (item: DocumentItem | Stray): item is Counted =>
  item.state !== 'pending' && item.state !== 'stray'

const NO_LEDGER: Pick<WorkspaceLedger, 'holds' | 'refunds' | 'usedBytes' | 'documents' | 'quotaBytes'> = {
  ...{ holds: [], refunds: [], usedBytes: 0, documents: 0, quotaBytes: 0 },
}

/** The promises of docs/reliability.md. */
export class Promises {
  readonly #stores: Stores
  readonly #answered = new Set<Process>()
  /** Attempts whose documents were seen ready, by their documents: in this order. */
  readonly #recorded = new Map<AttemptId, { last: WorkspaceDocument; goneAtMs?: number; hasExpired?: boolean }>()
  /** By attempt, the processes whose callers were told that it made no document. */
  readonly #refused = new Map<string, string>()
  /** Attempts that somebody wanted to delete. */
  readonly #mayGo = new Set<string>()
  readonly #revived: string[] = []
  /** By how much the clock of a process is ahead, at most. */
  #aheadMs = 0
  readonly #seenExpired = new Set<string>()

  /** @param before what has been seen until now, by no process that is still at work */
  constructor(stores: Stores, before?: Promises) {
    this.#stores = stores
    if (!before) return
    for (const [attemptId, recorded] of before.#recorded) this.#recorded.set(attemptId, { ...recorded })
    for (const attemptId of before.#mayGo) this.#mayGo.add(attemptId)
    for (const attemptId of before.#seenExpired) this.#seenExpired.add(attemptId)
  }

  begin(request: Request): void {
    if (request.do === 'resolve') this.#aheadMs = Math.max(this.#aheadMs, request.aheadMs ?? 0)
    if (request.do === 'delete' && request.of) this.#mayGo.add(request.of.attemptId)
  }

  /** To be called after each change. @throws Error */
  observe(): void {
    const { nowMs } = this.#stores
    for (const item of this.#stores.items()) {
      if (!isCountedItem(item)) continue
      const { attemptId } = item
      if (item.state === 'ready') {
        this.#expectFirst(item)
        this.#recorded.set(attemptId, { last: item })
        if (hasExpired(item, nowMs)) this.#seenExpired.add(attemptId)
        else if (this.#seenExpired.has(attemptId)) this.#revived.push(attemptId)
        continue
      }
      const recorded = this.#recorded.get(attemptId)
      if (recorded && hasExpired(recorded.last, nowMs + this.#aheadMs)) this.#mayGo.add(attemptId)
      if (recorded)
        Object.assign(recorded, { goneAtMs: recorded.goneAtMs ?? nowMs, hasExpired: item.isExpired === true })
    }
  }

  /** I5: no second record for a key while the first document's tombstone lives, unless that has expired. */
  #expectFirst({ documentId, attemptId }: Counted): void {
    const DAY_MS = 24 * 60 * 60 * 1000
    for (const [other, { goneAtMs, hasExpired: isExpired, last }] of this.#recorded) {
      if (last.documentId !== documentId || other === attemptId || isExpired) continue
      if (goneAtMs === undefined || this.#stores.nowMs < goneAtMs + DAY_MS)
        throw new Error(`document ${documentId} is made a second time`)
    }
  }

  /** All this is true at every moment, whatever has happened. @throws Error */
  check(processes: Iterable<Process>): void {
    const items = this.#stores.items()
    const { erasure } = this.#stores.ledger() ?? {}
    if (erasure?.state === 'erased') this.#checkErased(items)
    // An erasure removes what is counted, and does not count back.
    else if (erasure === undefined || erasure.state === 'scheduled') this.#checkBytes(items)
    for (const process of processes) {
      if (process.outcome && !this.#answered.has(process)) this.#checkAnswer(process, process.outcome)
    }
    for (const item of items) {
      if (item.state !== 'ready') continue
      const { documentId, objectKey, sizeBytes } = item
      expectEqual(this.#stores.objects.get(objectKey), sizeBytes, `document ${documentId} has its bytes`)
    }
    for (const [attemptId, { hasExpired: isExpired }] of this.#recorded) {
      const name = this.#refused.get(attemptId)
      // Who sleeps until its document has expired, and another has its place, cannot know that there was one.
      if (name && !isExpired) throw new Error(`${name} was answered an error, and its document is there`)
    }
    const live = new Set(items.flatMap((item) => (item.state === 'ready' ? item.attemptId : [])))
    const isErased = erasure !== undefined && erasure.state !== 'scheduled'
    const lost = [...this.#recorded.keys()].find((attemptId) => !live.has(attemptId) && !this.#mayGo.has(attemptId))
    if (lost && !isErased) throw new Error(`the document of attempt ${lost} is gone, and nobody deleted it`)
    if (this.#revived.length > 0) throw new Error(`a document had expired, and is there again`)
  }

  /** From then on, nothing of the workspace is there, and nothing comes back. */
  #checkErased(items: (DocumentItem | Stray)[]): void {
    const { usedBytes, documents, holds, refunds } = this.#stores.ledger() ?? NO_LEDGER
    const left = [usedBytes, documents, holds, refunds, items, [...this.#stores.objects.keys()]]
    expectEqual(left, [0, 0, [], [], [], []], 'what is erased is gone')
  }

  /** I2: "The ledger counts exactly…": docs/reliability.md. */
  #checkBytes(items: (DocumentItem | Stray)[]): void {
    // Without a ledger, nothing may be left that it would count.
    const { holds, refunds, usedBytes, documents, quotaBytes } = this.#stores.ledger() ?? NO_LEDGER
    const counted = new Map<AttemptId, number>(holds.map(({ attemptId, sizeBytes }) => [attemptId, sizeBytes]))
    for (const item of items) {
      if (!isCountedItem(item) || item.state === 'gone') continue
      const { refundId } = item.state === 'deleting' ? item : {}
      const isHeld = refundId === undefined || refunds.some((refund) => refund.refundId === refundId)
      if (isHeld) counted.set(item.attemptId, item.sizeBytes)
    }
    const held = [...counted.values()].reduce((sum, sizeBytes) => sum + sizeBytes, 0)
    expectEqual([usedBytes, documents], [held, counted.size], 'the ledger counts what is held')
    if (usedBytes > quotaBytes) throw new Error('the workspace is over its quota')
  }

  /** Looked at once, at the moment of the answer. */
  #checkAnswer(process: Process, outcome: NonNullable<Process['outcome']>): void {
    this.#answered.add(process)
    const { name, request } = process
    if (request.do === 'audit' && 'value' in outcome && outcome.value) {
      const { counted, expected } = outcome.value as Audited
      expectEqual(expected, counted, `${name}: what the ledger counted when it was read`)
    }
    if (request.do !== 'promote') return
    const value = 'value' in outcome ? (outcome.value as Promotion) : undefined
    const error = 'error' in outcome ? outcome.error : undefined
    if (error && !(error instanceof ServiceError)) throw new Error(`${name}: ${error}`, { cause: error })
    const own = process.calls.find(({ name }) => name === 'documents.record')
    const ownId = (own?.input.Item as { attempt_id?: { S: string } } | undefined)?.attempt_id?.S
    if (value && !this.#recorded.has(value.document.attemptId))
      throw new Error(`${name}: answered 200, but there is no document`)
    // I4. The one exception: neither the record's answer nor the fence's arrived.
    const isLost = (call: string) =>
      process.calls.some(({ name, fate }) => name === call && fate !== 'ok' && fate !== 'repeated')
    const isUnknown = isLost('documents.record') && (isLost('documents.fence') || isLost('documents.putStray'))
    if (ownId && value?.document.attemptId !== ownId && !isUnknown) this.#refused.set(ownId, name)
  }

  /** I3: after the resolver alone. @throws Error */
  checkResolved({ mayStay }: { mayStay: boolean }): void {
    const items = this.#stores.items()
    const left = items.filter(({ state }) => state === 'pending' || state === 'stray' || state === 'deleting')
    expectEqual(left, [], 'nothing is left unfinished')
    const keys = new Set(items.flatMap((item) => (item.state === 'ready' ? item.objectKey : [])))
    const loose = [...this.#stores.objects.keys()].filter((key) => !keys.has(key))
    if (!mayStay) expectEqual(loose, [], 'no object is left without a document')
    const ledger = this.#stores.ledger()
    const orphans = ledger?.holds.filter(({ attemptId }) => !this.#recorded.has(attemptId)) ?? []
    if (!mayStay) expectEqual(orphans, [], 'no bytes are counted that were not kept')
  }

  /** I3: after a cleaner. @throws Error */
  checkClean(): void {
    const ledger = this.#stores.ledger() ?? NO_LEDGER
    const ready = this.#stores.items().flatMap((item) => (item.state === 'ready' ? item.sizeBytes : []))
    const bytes = ready.reduce((sum, sizeBytes) => sum + sizeBytes, 0)
    const counted = [ledger.usedBytes, ledger.documents]
    expectEqual(counted, [bytes, ready.length], 'the ledger counts its documents to the byte')
    expectEqual([...ledger.holds, ...ledger.refunds], [], 'no hold or refund is left')
  }
}

/** @throws Error */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const [is, shouldBe] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== shouldBe) throw new Error(`${what}: ${is} instead of ${shouldBe}`)
}
