import type { AttemptId, DocumentId, ReleaseId, WorkspaceId } from '../ids.ts'
import type { FormerDocument, WorkspaceDocument } from '../promotion/document-records.ts'
import type { OnUnreadable } from '../unreadable-item.ts'

export interface StoredDocument extends WorkspaceDocument {
  /** Its place in callers' lists is missing or wrong: it was recorded before there were lists. */
  isUnlisted?: true
}

export interface DocumentRow {
  documentId: DocumentId
  /** Missing: it is a tombstone. */
  document?: StoredDocument
  /** All bytes that were counted under this id during the last day. */
  counted: CountedBytes[]
}

export interface CountedAttempt {
  attemptId: AttemptId
  sizeBytes: number
  createdAtMs: number
  /** The first version of the ledger that counts them; unknown for documents of older releases. */
  countedFrom: number | undefined
}

export type CountedBytes =
  | ({ state: 'document' } & CountedAttempt)
  /** Being deleted: the deletion's marker tells whether and when its bytes were given back. */
  | ({ state: 'retired'; retiredBy: ReleaseId } & CountedAttempt)
  | ({ state: 'former' } & FormerDocument)
  /** Deleted by an older release, which did not record its size and until when it was counted. */
  | { state: 'unrecorded'; finishedAtMs?: number }
  /** There may have been more, counted up to this version. */
  | { state: 'truncated'; countedThrough: number }

export interface DocumentMaintenance {
  /** By ascending id, read page by page. */
  list(workspaceId: WorkspaceId, signal: AbortSignal, onUnreadable?: OnUnreadable): AsyncIterable<StoredDocument>
  /** The same, with the tombstones in between. @param options.after starts after this row */
  listRows(
    workspaceId: WorkspaceId,
    signal: AbortSignal,
    options?: { onUnreadable?: OnUnreadable; after?: DocumentId | undefined },
  ): AsyncIterable<DocumentRow>
  /** Gives a document its place in callers' lists, if it still exists. May be repeated. */
  addToListing(document: WorkspaceDocument, signal: AbortSignal): Promise<void>
}
