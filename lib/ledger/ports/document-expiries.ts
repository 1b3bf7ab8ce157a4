import type { DocumentId, WorkspaceId } from '../../ids.ts'
import type { WorkspaceDocument } from './document-records.ts'

export interface ExpiredDocument {
  workspaceId: WorkspaceId
  documentId: DocumentId
  expiresAt: Date
}

/** The index of the documents that will expire, and what changes their place in it. */
export interface DocumentExpiries {
  /** A workspace's documents are all in one shard, and never change it. */
  readonly expiryShards: readonly number[]
  /** A shard's expired documents, oldest first, in pages; none without the index, which may lag: the document tells. */
  listExpired(expired: { shard: number; nowMs: number }, signal: AbortSignal): AsyncIterable<ExpiredDocument[]>
  /**
   * When a workspace's next document expires, or has expired but is not deleted yet.
   * @returns undefined: none by that time, or so many documents of other workspaces expire before it that it is unknown
   */
  nextExpiry(workspaceId: WorkspaceId, byMs: number, signal: AbortSignal): Promise<Date | undefined>
  /**
   * Opens: sent once.
   * @param document as it was read: another expiry that it has been given meanwhile stays
   * @param expiresAt on a whole second; undefined: it is kept for ever
   * @returns false when it has expired, or is not as it was read
   */
  setExpiry(
    document: Pick<WorkspaceDocument, 'workspaceId' | 'documentId' | 'attemptId' | 'expiresAt'>,
    expiresAt: Date | undefined,
    signal: AbortSignal,
  ): Promise<boolean>
}
