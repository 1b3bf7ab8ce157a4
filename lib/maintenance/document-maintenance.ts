import type { AttemptId, DocumentId, ReleaseId, WorkspaceId } from '../ids.ts'
import type { FormerDocument, WorkspaceDocument } from '../promotion/document-records.ts'
import type { OnUnreadable } from '../unreadable-item.ts'

/** A document as the audit sees it. */
export interface StoredDocument extends WorkspaceDocument {
  /** It has no place, or a wrong one, in what callers' lists are made of: it was recorded before there were any. */
  isUnlisted?: true
}

/** What stands under a document id. */
export interface DocumentRow {
  documentId: DocumentId
  /** Not there: it is a tombstone. */
  document?: StoredDocument
  /** All bytes that were counted under this id at some time of the last day. */
  counted: CountedBytes[]
}

export interface CountedAttempt {
  attemptId: AttemptId
  sizeBytes: number
  createdAtMs: number
  /** The first version of the ledger that counts them; not known of documents of older releases of this service. */
  countedFrom: number | undefined
}

export type CountedBytes =
  | ({ state: 'document' } & CountedAttempt)
  /** Being deleted: when its bytes went back, if they did, the deletion's marker tells. */
  | ({ state: 'retired'; retiredBy: ReleaseId } & CountedAttempt)
  | ({ state: 'former' } & FormerDocument)
  /** Deleted by an older release of this service, which did not say what and until when. */
  | { state: 'untold'; finishedAtMs?: number }
  /** There may have been more, counted through versions up to this one. */
  | { state: 'forgotten'; countedThrough: number }

export interface DocumentMaintenance {
  /** All documents of a workspace by ascending id, read page by page. */
  list(workspaceId: WorkspaceId, signal: AbortSignal, onUnreadable?: OnUnreadable): AsyncIterable<StoredDocument>
  /**
   * The same with the tombstones between them.
   * @param options.after the row to begin behind
   */
  listRows(
    workspaceId: WorkspaceId,
    signal: AbortSignal,
    options?: { onUnreadable?: OnUnreadable; after?: DocumentId | undefined },
  ): AsyncIterable<DocumentRow>
  /** Gives a document its place in callers' lists; does nothing when it is gone. May be repeated. */
  enlist(document: WorkspaceDocument, signal: AbortSignal): Promise<void>
}
