import type { DocumentId, WorkspaceId } from '../ids.ts'
import type {
  OnUnreadable,
  Release,
  StorageUsage,
  WorkspaceDocument,
  WorkspaceLedger,
  WorkspaceLedgers,
} from '../promotion/ports.ts'

/** A share of a table, one of several that are read side by side, from behind a workspace on. */
export interface TableSegment {
  segment: number
  totalSegments: number
  after?: WorkspaceId | undefined
}

/** Which workspaces a table has rows of. */
export interface TableWorkspaces {
  /** Each once, in an order that stays as it is. It costs one read for each, however many rows it has. */
  listWorkspaces(share: TableSegment, signal: AbortSignal): AsyncIterable<WorkspaceId>
  hasWorkspace(workspaceId: WorkspaceId, signal: AbortSignal): Promise<boolean>
}

export interface DueWorkspace {
  workspaceId: WorkspaceId
  /** When it was to be looked at, ms since 1970. */
  checkDueAtMs: number
}

/** What resolver and audit need beyond single promotions. */
export interface LedgerMaintenance extends WorkspaceLedgers {
  /** The ids of all workspaces, in an order that stays as it is. @param share left out: all */
  list(signal: AbortSignal, share?: TableSegment): AsyncIterable<WorkspaceId>
  /** All workspaces with their ledgers, in no order. @throws Error at the first that cannot be read */
  readAll(signal: AbortSignal): AsyncIterable<WorkspaceLedger>
  /** The shards of the index of workspaces that are due: each workspace is in one of them, always the same. */
  readonly shards: readonly number[]
  /**
   * Workspaces of a shard that are due to be looked at, page by page, those that have waited longest first. May be behind:
   * the ledger itself tells whether one is still due.
   */
  listDue(due: { shard: number; nowMs: number }, signal: AbortSignal): AsyncIterable<DueWorkspace[]>
  /**
   * Sets the used bytes, unless the ledger has changed since it was read. Makes the ledger where there is none.
   * @returns whether it was set
   */
  correct(
    workspaceId: WorkspaceId,
    correction: { usedBytes: number; version: number | undefined },
    signal: AbortSignal,
  ): Promise<boolean>
}

/** What platform teams do with workspaces, at any time: promotions may be under way. */
export interface WorkspaceAdministration {
  /**
   * Makes a workspace with nothing in it, unless there is one.
   * @returns the workspace that is there now
   */
  create(
    workspaceId: WorkspaceId,
    quotaBytes: number,
    signal: AbortSignal,
  ): Promise<{ isNew: boolean; usage: StorageUsage }>
  /**
   * Changes the quota and leaves the used bytes alone. A quota below these is fine: nothing more fits in until enough is
   * deleted.
   * @returns undefined when there is no such workspace
   */
  setQuota(
    workspaceId: WorkspaceId,
    quotaBytes: number,
    signal: AbortSignal,
  ): Promise<{ previousQuotaBytes: number; usage: StorageUsage } | undefined>
}

/** A document as the audit sees it. */
export interface StoredDocument extends WorkspaceDocument {
  /** It has no place, or a wrong one, in what callers' lists are made of: it was recorded before there were any. */
  isUnlisted?: true
}

/** What stands under a document id: a document, or only the tombstone of one. */
export interface DocumentRow {
  documentId: DocumentId
  document?: StoredDocument
}

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
  /** Whether it was this deletion that made the document vanish. */
  isRetiredBy(deletion: Release, signal: AbortSignal): Promise<boolean>
}

export interface StoredDocumentObject {
  objectKey: string
  sizeBytes: number
}

export interface UnfinishedUpload {
  objectKey: string
  startedAtMs: number
}

export interface ObjectMaintenance {
  /** Document objects by ascending key, read page by page. @param afterKey the key to begin behind */
  listObjects(keyPrefix: string, signal: AbortSignal, afterKey?: string): AsyncIterable<StoredDocumentObject>
  /** By ascending key. @param afterKey the key to begin behind */
  listUploads(keyPrefix: string, signal: AbortSignal, afterKey?: string): AsyncIterable<UnfinishedUpload>
  /**
   * What stands between the prefix and the next `/`, with both: the folders of one level, ascending.
   * @param afterPrefix the folder to begin behind
   */
  listPrefixes(keyPrefix: string, signal: AbortSignal, afterPrefix?: string): AsyncIterable<string>
  hasObject(objectKey: string, signal: AbortSignal): Promise<boolean>
  /** Aborts the unfinished uploads of a key and leaves its object alone. */
  abortUploads(objectKey: string, signal: AbortSignal): Promise<void>
}
