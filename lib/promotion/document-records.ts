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
  /** From here on the promotion has succeeded. Opens: sent once. */
  record(document: WorkspaceDocument, signal: AbortSignal): Promise<RecordOutcome>
  /**
   * Makes sure that the attempt can never record its document, or finds that it has.
   * @returns 'recorded' when its document is there or has been deleted since; 'fenced' when it never will be
   */
  fence(attempt: Reservation, signal: AbortSignal): Promise<'recorded' | 'fenced'>
  find(workspaceId: WorkspaceId, documentId: DocumentId, signal: AbortSignal): Promise<WorkspaceDocument | undefined>
  /**
   * Turns the document of this deletion's attempt into a tombstone.
   * @returns the document, when this deletion retired it now or earlier; undefined when nothing is left for it to do
   */
  retire(deletion: Release, signal: AbortSignal): Promise<RetiredDocument | undefined>
  /**
   * Lets the tombstone expire in a day; call it once the bytes are given back.
   * @param ended omitted if an earlier call passed it
   */
  finish(deletion: Release, signal: AbortSignal, ended?: DeletionEnd): Promise<void>
}

export interface DeletionEnd {
  retired: RetiredDocument
  countedThrough: number
}

export interface RetiredDocument {
  objectKey: string
  /** How it was counted; unknown for documents that an older release retired. */
  counted: Omit<FormerDocument, 'countedThrough' | 'finishedAtMs'> | undefined
  /** Documents with this id that were deleted in the last day. */
  former: FormerDocument[]
}

/** A deleted document, kept while an audit that began earlier may have to count it. */
export interface FormerDocument {
  attemptId: AttemptId
  sizeBytes: number
  createdAtMs: number
  /** The first and the last version of the ledger that count its bytes. */
  countedFrom: number | undefined
  countedThrough: number
  finishedAtMs: number
}
