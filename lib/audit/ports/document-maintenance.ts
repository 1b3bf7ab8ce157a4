import type { AttemptId, DocumentId, ReleaseId, WorkspaceId } from '../../ids.ts'
import type { WorkspaceDocument } from '../../ledger/ports/document-records.ts'
import type { OnUnreadable } from '../../ledger/ports/unreadable-item.ts'

/** An item of Documents. */
export interface AuditedItem {
  documentId: DocumentId
  /** Missing: it is a tombstone. */
  document?: WorkspaceDocument
  /** Missing: a tombstone that is not of a document. */
  counted?: CountedBytes | undefined
  /** Its deletion has not given its bytes back. */
  isUnfinished?: true
}

export interface CountedBytes {
  attemptId: AttemptId
  sizeBytes: number
  /** The first version of the ledger that counts them. */
  countedFrom: number
  /** Of a deleted document: the release that gives them back. */
  releasedBy?: ReleaseId
  /** At earlier versions they are counted; from this one on, only while the release's marker is in the ledger. */
  markedIn?: number
}

export interface DocumentMaintenance {
  /** By ascending id, read page by page. */
  list(workspaceId: WorkspaceId, signal: AbortSignal, onUnreadable?: OnUnreadable): AsyncIterable<WorkspaceDocument>
  /** The same, including tombstones. @param options.after starts after this item */
  listItems(
    workspaceId: WorkspaceId,
    signal: AbortSignal,
    options?: { onUnreadable?: OnUnreadable | undefined; after?: DocumentId | undefined },
  ): AsyncIterable<AuditedItem>
}
