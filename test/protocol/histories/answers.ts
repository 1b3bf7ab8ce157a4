import { ServiceError } from '../../../lib/errors.ts'
import type { DocumentId } from '../../../lib/ids.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import type { Promotion } from '../../../lib/promotion/promotion.ts'
import { expectEqual } from './invariants.ts'
import type { Process } from './process.ts'
import type { Stores } from './stores.ts'

/** What a function does for a caller: its process ends with the function's time. */
export const isForCaller = ({ name }: Process): boolean => /^(promote|api)/.test(name)

/** What callers are answered, held against what is there. */
export class Answers {
  readonly #stores: Stores
  readonly #answered = new Set<Process>()
  /** By workspace and idempotency key: the document of the first 200. */
  readonly #documentOfKey = new Map<string, string>()
  readonly #keyOf = new Map<Process, string>()
  /** Attempts whose callers were told that they made no document. */
  readonly #refused = new Map<string, string>()
  wasDeleted = false

  constructor(stores: Stores) {
    this.#stores = stores
  }

  expectOneDocument(process: Process, key: string): void {
    this.#keyOf.set(process, key)
  }

  /** Looked at once, at the moment of the answer; that an error made no document, from then on. */
  check(process: Process): void {
    for (const { attemptId } of this.#stores.documents.documents.values()) {
      const answer = this.#refused.get(attemptId)
      if (answer !== undefined) throw new Error(`${answer}, but there is its document`)
    }
    if (!isForCaller(process) || process.outcome === undefined || this.#answered.has(process)) return
    this.#answered.add(process)
    if (process.name.startsWith('api')) {
      if ('error' in process.outcome && !(process.outcome.error instanceof ServiceError)) throw process.outcome.error
      return
    }
    if ('value' in process.outcome) {
      const { document } = process.outcome.value as Promotion
      const isThere = this.#stores.documents.documents.has(`${document.workspaceId}/${document.documentId}`)
      if (!this.wasDeleted && !isThere) throw new Error(`${process.name}: answered 200, but there is no document`)
      this.#checkKey(process, document.documentId)
      this.#expectNoOther(process, document.attemptId, 'answered 200 with the document of a twin')
      return
    }
    const { error } = process.outcome
    if (!(error instanceof ServiceError)) throw new Error(`${process.name}: an unforeseen failure`, { cause: error })
    this.#expectNoOther(process, undefined, `answered ${error.status}`)
  }

  /** What the process has tried to record is no document, now or later, except for what it was answered with. */
  #expectNoOther(process: Process, answeredWith: string | undefined, answer: string): void {
    // The one exception: neither the record's answer nor the fence's arrived.
    const isFenceLost = process.calls.some(
      ({ name, fate }) => name === 'documents.fence' && fate !== 'ok' && fate !== 'repeated',
    )
    if (isFenceLost) return
    for (const { name, args } of process.calls) {
      if (name !== 'documents.record') continue
      const { attemptId } = args[0] as WorkspaceDocument
      if (attemptId !== answeredWith) this.#refused.set(attemptId, `${process.name}: ${answer}`)
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
