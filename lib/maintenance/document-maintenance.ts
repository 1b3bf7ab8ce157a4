import type { AttemptId, DocumentId, ReleaseId, WorkspaceId } from '../ids.ts'
import type { WorkspaceDocument } from '../promotion/document-records.ts'
import type { OnUnreadable } from '../unreadable-item.ts'

export interface StoredDocument extends WorkspaceDocument {
  /** Its place in callers' lists is missing or wrong: it was recorded before there were lists. */
  isUnlisted?: true
}

export interface DocumentRow {
  documentId: DocumentId
  /** Missing: it is a tombstone. */
  document?: StoredDocument
  /** Missing: under this id there was no document in the last day. */
  counted?: CountedBytes | undefined
  /** Its deletion has not given its bytes back. */
  isUnfinished?: true
}

export interface CountedBytes {
  attemptId: AttemptId
  sizeBytes: number
  /** The first version of the ledger that counts them. */
  countedFrom: number | undefined
  /** Of a deleted document: the release that gives them back. */
  closedBy?: ReleaseId
  /** At earlier versions they are counted; from this one on, while the marker of the release is in the ledger. */
  closedIn?: number
}

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
