import type { AttemptId, ContainerId, DocumentId, FilePath, RefundId, WorkspaceId } from '../../ids.ts'

export interface Attempt {
  workspaceId: WorkspaceId
  documentId: DocumentId
  attemptId: AttemptId
  objectKey: string
  /** The version of its object, known to its own process only: an undo removes it for good. */
  versionId?: string | undefined
}

/** The attempt is under way, or its process died. */
export interface PendingDocument extends Attempt {
  state: 'pending'
  /** When the resolver may undo the attempt, ms since 1970. */
  dueAtMs: number
}

/** A document's bytes, and the first version of the ledger that counts them. */
interface CountedDocument extends Attempt {
  sizeBytes: number
  countedFrom: number
  createdAt: Date
}

/** A document, visible and durable. */
export interface WorkspaceDocument extends CountedDocument {
  state: 'ready'
  /** The path of the container's file. */
  filename: FilePath
  mimeType: string
  /** Missing: it is kept for ever. */
  expiresAt?: Date | undefined
  containerId: ContainerId
  contentEncoding?: string | undefined
  /** The ETag of the container's file, with its quotes. */
  sourceEtag: string
  /** In hex. Missing if the file was copied in parts. */
  sha256?: string | undefined
  /** `key_id` of the API key. */
  createdBy: string
}

/** Gone for callers. While it is `deleting`, its object or its bytes may still be there; `gone` is a tombstone. */
export interface DeletedDocument extends CountedDocument {
  state: 'deleting' | 'gone'
  isExpired?: true | undefined
  /** When the resolver may go on with it, ms since 1970; of an expired document, when it expired. Missing: it is gone. */
  dueAtMs?: number | undefined
  /** The refund of its bytes, and a version of the ledger that has that refund. */
  refundId?: RefundId | undefined
  refundVersion?: number | undefined
}

/** Leads to what an undone attempt may still have under way: a late copy or hold. When due, it is undone again. */
export interface Stray extends Attempt {
  state: 'stray'
  /** By then, all that the attempt sent has arrived; ms since 1970. */
  dueAtMs: number
}

export type DocumentItem = PendingDocument | WorkspaceDocument | DeletedDocument

/** An entry of the index of due work: the item itself says what there is to do. */
export interface DueEntry {
  workspaceId: WorkspaceId
  /** The key of a document, or of an item beside one. */
  itemId: string
  dueAtMs: number
}

/** Due are documents that expire, and work that processes have begun and may have left. */
export type DueKind = 'expiry' | 'work'

/** Deletes only what has expired by that time, ms since 1970, or only what has not. Neither: expired or not. */
export interface Deletion {
  ifExpiredByMs?: number
  unlessExpiredByMs?: number
}

type DocumentKey = Pick<Attempt, 'workspaceId' | 'documentId'>

/** The Documents table: one item from the first write to the tombstone. For what all methods may throw see `Ledger`. */
export interface Documents {
  /** @returns undefined, too, for a tombstone that is no longer remembered */
  find(document: DocumentKey, signal: AbortSignal): Promise<DocumentItem | undefined>
  /** As {@link Documents.find}, for up to a hundred different ids at once, in no order. */
  findAll(workspaceId: WorkspaceId, documentIds: readonly DocumentId[], signal: AbortSignal): Promise<DocumentItem[]>
  /**
   * Makes the pending item. Opens: sent once.
   * @param over the tombstone of an expired document, whose place it may take
   * @returns what is there instead; undefined: it has begun
   */
  begin(
    pending: PendingDocument,
    over: DeletedDocument | undefined,
    signal: AbortSignal,
  ): Promise<DocumentItem | undefined>
  /** From here on the promotion has succeeded. @returns whether it has: if not, somebody has undone the attempt */
  record(document: WorkspaceDocument, signal: AbortSignal): Promise<boolean>
  /** Removes the attempt's pending item: from here on it can never be recorded. @returns whether it has been recorded */
  fence(attempt: Attempt, signal: AbortSignal): Promise<boolean>
  /**
   * Makes a document `deleting`, if it is this attempt's.
   * @param dueAtMs when the resolver may go on with it, ms since 1970; what has expired is due already
   * @returns what is there now
   */
  delete(
    document: Attempt,
    when: Deletion & { dueAtMs: number },
    signal: AbortSignal,
  ): Promise<DocumentItem | undefined>
  /** Names the one refund of a `deleting` document's bytes, which must be in the ledger. @returns the refund that it names */
  nameRefund(
    document: Attempt,
    refund: { refundId: RefundId; refundVersion: number },
    signal: AbortSignal,
  ): Promise<RefundId | undefined>
  /** Makes it `gone`: its bytes are refunded, and its object is deleted. */
  bury(document: Attempt, refundId: RefundId, signal: AbortSignal): Promise<void>
  /** Keeps a tombstone for audits beside the item that takes its place. */
  keepTombstone(tombstone: DeletedDocument, signal: AbortSignal): Promise<void>
  /** Puts a stray, or makes it due later. */
  putStray(stray: Stray, signal: AbortSignal): Promise<void>
  /** Removes a stray, unless it was made due later. */
  removeStray(stray: Stray, signal: AbortSignal): Promise<void>
  /**
   * Opens: sent once.
   * @param document as it was read: another expiry that it has been given meanwhile stays
   * @param expiresAt on a whole second; undefined: it is kept for ever
   * @returns false: it has changed since it was read, or ends too soon
   */
  setExpiry(document: WorkspaceDocument, expiresAt: Date | undefined, signal: AbortSignal): Promise<boolean>
}

/** The index of due work, spread over shards by document. */
export interface DueWork {
  readonly dueShards: readonly number[]
  /** The longest due first, in pages. The index lags. */
  listDue(due: { kind: DueKind; shard: number; byMs: number }, signal: AbortSignal): AsyncIterable<DueEntry[]>
  findDue(entry: DueEntry, signal: AbortSignal): Promise<DocumentItem | Stray | undefined>
}
