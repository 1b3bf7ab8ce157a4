import type { AttemptId, DocumentId, ReleaseId, WorkspaceId } from '../ids.ts'
import type {
  FormerDocument,
  OnUnreadable,
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
   * Changes the used bytes by as much as they were wrong at a version of the ledger, whatever has changed since; once only,
   * however often it is sent and by however many audits. Where there was no ledger, makes it.
   * @returns whether it is corrected; false: the ledger is another one now
   */
  correct(workspaceId: WorkspaceId, drift: Drift, signal: AbortSignal): Promise<boolean>
}

export interface Drift {
  usedBytes: number
  expectedBytes: number
  /** Versions of the ledger: at which this was so, and the last that was seen since. Not there: there was no ledger. */
  at?: { version: number; lastVersion: number }
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
