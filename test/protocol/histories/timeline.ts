import type { ListedDocument, ListOrder } from '../../../lib/documents/document-listing.ts'
import { comparePositions } from '../../../lib/documents/list-documents.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'

interface Life {
  document: WorkspaceDocument
  from: number
  /** Moment of its end; undefined while it is there. */
  until: number | undefined
}

/** A list that was read to its end, page by page. */
export interface ListRead {
  workspaceId: WorkspaceId
  order: ListOrder
  limit: number
  /** Moments. */
  from: number
  to: number
  pages: readonly (readonly ListedDocument[])[]
}

/** By how many moments an entry of the index may be behind the table. */
export const MAX_LAG = 4

/**
 * Which documents there were, moment by moment: a moment is the time between two changes of any store. It tells what a
 * list whose index is behind may show, and what it must show.
 */
export class Timeline {
  readonly #lives: Life[] = []
  #moment = 0

  get moment(): number {
    return this.#moment
  }

  /** To be called after each change. */
  observe(documents: ReadonlyMap<string, WorkspaceDocument>): void {
    this.#moment++
    const current = new Set(documents.values())
    for (const life of this.#lives) {
      if (life.until === undefined && !current.delete(life.document)) life.until = this.#moment
    }
    for (const document of current) this.#lives.push({ document, from: this.#moment, until: undefined })
  }

  /** Every document that ever was. */
  get all(): WorkspaceDocument[] {
    return this.#lives.map(({ document }) => document)
  }

  wasDeleted(attemptId: string): boolean {
    return this.#lives.some(({ document, until }) => document.attemptId === attemptId && until !== undefined)
  }

  /**
   * The documents as known to an index whose entries are behind, each by a delay of its own.
   * @param lagOf in moments
   */
  asIndexed(lagOf: (documentId: string) => number): Map<string, WorkspaceDocument> {
    const known = this.#lives.filter((life) => isThere(life, this.#moment - lagOf(life.document.documentId)))
    return new Map(known.map(({ document }) => [`${document.workspaceId}/${document.documentId}`, document]))
  }

  /** @returns whether the id stood for a document at all moments, at some, or at none */
  presence(documentId: string, workspaceId: WorkspaceId, from: number, to: number): 'all' | 'some' | 'none' {
    const own = this.#lives.filter(({ document }) => {
      return document.documentId === documentId && document.workspaceId === workspaceId
    })
    const moments = Array.from({ length: to - from + 1 }, (_, index) => from + index)
    const there = moments.filter((moment) => own.some((life) => isThere(life, moment))).length
    return there === 0 ? 'none' : there === moments.length ? 'all' : 'some'
  }

  /**
   * What every list keeps, of an index that is at most MAX_LAG moments behind: the bound of docs/reliability.md.
   * @throws Error
   */
  checkList({ workspaceId, order, limit, from, to, pages }: ListRead): void {
    const shown = pages.flat()
    const sign = order === 'asc' ? 1 : -1
    shown.slice(1).forEach((document, index) => {
      const previous = shown[index]
      if (previous && sign * comparePositions(document, previous) <= 0)
        throw new Error(`${document.documentId} is listed twice, or out of order`)
    })
    for (const page of pages.slice(0, -1)) {
      if (page.length !== limit) throw new Error(`a page of ${page.length} instead of ${limit}, with more to come`)
    }
    const isShown = (document: WorkspaceDocument) => shown.some((each) => comparePositions(each, document) === 0)
    const own = this.#lives.filter(({ document }) => document.workspaceId === workspaceId)
    for (const { document, from: began, until = Number.POSITIVE_INFINITY } of own) {
      const { documentId } = document
      if (isShown(document) && until <= from - MAX_LAG)
        throw new Error(`${documentId} is listed, and was deleted before the list began`)
      if (!isShown(document) && began <= from - MAX_LAG && until > to)
        throw new Error(`${documentId} is not listed, and was there before the list began`)
    }
    for (const document of shown) {
      const isKnown = own.some((life) => comparePositions(life.document, document) === 0 && life.from <= to)
      if (!isKnown) throw new Error(`${document.documentId} is listed, and never was a document of the workspace`)
    }
  }
}

function isThere({ from, until = Number.POSITIVE_INFINITY }: Life, moment: number): boolean {
  return from <= moment && moment < until
}
