import type { ListedDocument, ListOrder } from '../../../lib/documents/document-listing.ts'
import { comparePositions } from '../../../lib/documents/list-documents.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { hasExpired } from '../../../lib/ledger/expiry.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'

/** Of a document; a change of its expiry begins another. */
interface Life {
  document: WorkspaceDocument
  from: number
  /** The moment of its end; infinite while it is there. */
  until: number
}

/** A list that was read to its end, page by page, and the moment when it began. */
interface ListRead {
  workspaceId: WorkspaceId
  order: ListOrder
  limit: number
  from: number
  pages: readonly (readonly ListedDocument[])[]
  /** The latest time while it was read. */
  mostMs: number
}

/** By how many moments an entry of the index may be behind the table. */
export const MAX_LAG = 4

/** Which documents there were, moment by moment: a moment is the time between two changes of any store. */
export class Timeline {
  readonly #lives: Life[] = []
  moment = 0

  /** One that had expired, and then had not. */
  revived: WorkspaceDocument | undefined

  observe(documents: ReadonlyMap<string, WorkspaceDocument>, nowMs: number): void {
    this.moment++
    const current = new Set(documents.values())
    for (const life of this.#lives) {
      if (life.until > this.moment && !current.delete(life.document)) life.until = this.moment
    }
    for (const document of current) {
      const before = this.#lives.findLast((life) => life.document.attemptId === document.attemptId)
      if (before && hasExpired(before.document, nowMs) && !hasExpired(document, nowMs)) this.revived ??= document
      this.#lives.push({ document, from: this.moment, until: Number.POSITIVE_INFINITY })
    }
  }

  /** Every document that ever was, as it is now or was last. */
  get all(): WorkspaceDocument[] {
    return this.#last.map(({ document }) => document)
  }

  get deleted(): WorkspaceDocument[] {
    return this.#last.filter(({ until }) => until <= this.moment).map(({ document }) => document)
  }

  get #last(): Life[] {
    return [...new Map(this.#lives.map((life) => [life.document.attemptId, life])).values()]
  }

  /** The documents as known to an index whose entries are behind, each by as many moments as `lagOf` says. */
  asIndexed(lagOf: (documentId: string) => number): Map<string, WorkspaceDocument> {
    const known = this.#lives.filter(({ document, from, until }) => {
      const moment = this.moment - lagOf(document.documentId)
      return from <= moment && moment < until
    })
    return new Map(known.map(({ document }) => [`${document.workspaceId}/${document.documentId}`, document]))
  }

  /** @returns whether the id stood for a document at some moment since then, at all of them, and without having expired by a time */
  since(
    began: number,
    { workspaceId, documentId }: Pick<WorkspaceDocument, 'workspaceId' | 'documentId'>,
    byMs: number,
  ) {
    const own = this.#lives.filter(({ document, until }) => {
      return document.documentId === documentId && document.workspaceId === workspaceId && until > began
    })
    const [first, last] = [own[0], own.at(-1)]
    const isOne = first && last && first.document.attemptId === last.document.attemptId
    const all = isOne && first.from <= began && last.until > this.moment
    return { some: own.length > 0, all, hasExpired: own.some(({ document }) => hasExpired(document, byMs)) }
  }

  /**
   * "Whatever its delay d, a list shows each document that was recorded at least d before it began and is not deleted before
   * it ends, exactly once; and none that was deleted at least d before it began." Here d is MAX_LAG.
   * @throws Error
   */
  checkList({ workspaceId, order, limit, from: began, pages, mostMs }: ListRead): void {
    const shown = pages.flat()
    const sign = order === 'asc' ? 1 : -1
    const isBehind = (document: ListedDocument, index: number) =>
      sign * comparePositions(document, shown[index] as ListedDocument) > 0
    if (!shown.slice(1).every(isBehind)) throw new Error('a document is listed twice, or out of order')
    if (pages.slice(0, -1).some(({ length }) => length !== limit)) throw new Error('a page is too short, or too long')
    const own = this.#lives.filter(({ document }) => document.workspaceId === workspaceId)
    for (const { document, until } of this.#last.filter((life) => own.includes(life))) {
      const isShown = shown.some((each) => comparePositions(each, document) === 0)
      const lives = own.filter((life) => life.document.attemptId === document.attemptId)
      const from = Math.min(...lives.map((life) => life.from))
      if (isShown && until <= began - MAX_LAG)
        throw new Error(`${document.documentId} is listed, and was deleted before the list began`)
      const isExpired = lives.some((life) => hasExpired(life.document, mostMs))
      if (!isShown && !isExpired && from <= began - MAX_LAG && until > this.moment)
        throw new Error(`${document.documentId} is not listed, and was there before the list began`)
    }
    const isKnown = (each: ListedDocument) => own.some(({ document }) => comparePositions(each, document) === 0)
    if (!shown.every(isKnown)) throw new Error('what is listed never was a document of the workspace')
  }
}
