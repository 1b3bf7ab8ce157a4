import type { DocumentId, WorkspaceId } from '../../ids.ts'
import type { CountedBytes, WorkspaceDocument } from '../../ledger/ports/document-records.ts'
import type { OnUnreadable } from '../../ledger/ports/unreadable-item.ts'

/** An item of Documents. */
export interface AuditedItem {
  documentId: DocumentId
  /** Missing: it is a tombstone. */
  document?: WorkspaceDocument
  /** Missing: a tombstone that is not of a document. */
  counted?: CountedBytes | undefined
  /** Of the expired document that was here before. */
  replaced?: CountedBytes | undefined
  /** Its deletion has not given its bytes back. */
  isUnfinished?: true
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
