import type { AttemptId, ContainerId, DocumentId, FilePath, WorkspaceId } from '../ids.ts'
import type { Release, Reservation } from './reservations.ts'

export interface WorkspaceDocument {
  workspaceId: WorkspaceId
  documentId: DocumentId
  attemptId: AttemptId
  objectKey: string
  filename: FilePath
  mimeType: string
  sizeBytes: number
  createdAt: Date
  containerId: ContainerId
  /** Id of the API key that promoted it. */
  createdBy: string
  /** As of its reservation. */
  countedFrom?: number
}

export type RecordOutcome =
  | 'recorded'
  /** This attempt was given up (see fence) and must undo its work. */
  | 'fenced'
  /** Another attempt has made this document. */
  | 'taken'

export interface DocumentRecords {
  /** Makes the document visible: from here on the promotion is a success. Opens: sent once. */
  record(document: WorkspaceDocument, signal: AbortSignal): Promise<RecordOutcome>
  /**
   * Makes sure that the attempt can never record its document any more, or finds that it has.
   * @returns 'recorded' when this attempt's document is there or was deleted since, 'fenced' when there is none and never will be
   */
  fence(attempt: Reservation, signal: AbortSignal): Promise<'recorded' | 'fenced'>
  find(workspaceId: WorkspaceId, documentId: DocumentId, signal: AbortSignal): Promise<WorkspaceDocument | undefined>
  /**
   * Makes the document of a deletion vanish, its attempt's and no other's.
   * @returns what it was, when this very deletion did it, now or before; undefined when there is nothing (left) for it to do
   */
  retire(deletion: Release, signal: AbortSignal): Promise<RetiredDocument | undefined>
  /**
   * The bytes of the deletion are given back: what is left of the document may be forgotten in a day.
   * @param ended left out: somebody else has said it before
   */
  finish(deletion: Release, signal: AbortSignal, ended?: DeletionEnd): Promise<void>
}

export interface DeletionEnd {
  retired: RetiredDocument
  countedThrough: number
}

export interface RetiredDocument {
  objectKey: string
  /** How it was counted; not known of documents that an older release of this service retired. */
  counted: Omit<FormerDocument, 'countedThrough' | 'finishedAtMs'> | undefined
  /** Others of this id that were deleted before, in the last day. */
  former: FormerDocument[]
}

/** A deleted document, as long as an audit that began before may have to count it. */
export interface FormerDocument {
  attemptId: AttemptId
  sizeBytes: number
  createdAtMs: number
  /** The versions of the ledger that count its bytes, both included. */
  countedFrom: number | undefined
  countedThrough: number
  finishedAtMs: number
}
