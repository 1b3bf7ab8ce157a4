import type { AttemptId, ContainerId, DocumentId, FilePath, ReleaseId, WorkspaceId } from '../../ids.ts'
import type { Attempt, MarkedRelease, Release } from './reservations.ts'

export interface WorkspaceDocument {
  workspaceId: WorkspaceId
  documentId: DocumentId
  attemptId: AttemptId
  objectKey: string
  filename: FilePath
  mimeType: string
  sizeBytes: number
  createdAt: Date
  /** From then on it is gone for callers, and the resolver deletes it. Missing: it is kept for ever. */
  expiresAt?: Date | undefined
  containerId: ContainerId
  /** How its bytes are encoded (gzip), as its object says, too. Missing: they are the file's own. */
  contentEncoding?: string | undefined
  /** Of the container's file when it was promoted. */
  sourceEtag: string
  /** Of its bytes, in hex. Documents copied in parts have none. */
  sha256?: string | undefined
  /** Id of the API key that promoted it. */
  createdBy: string
  /** The first version of the ledger that counts its bytes. */
  countedFrom: number
}

/** How the ledger counts the bytes of a document, or of a deleted one. */
export interface CountedBytes {
  attemptId: AttemptId
  sizeBytes: number
  /** The first version of the ledger that counts them. */
  countedFrom: number
  /** Of a deleted document: the release that gives them back. */
  releasedBy?: ReleaseId | undefined
  /** At earlier versions they are counted; from this one on, only while the release's marker is in the ledger. */
  markedIn?: number | undefined
}

type RecordOutcome =
  | 'recorded'
  /** This attempt was fenced, and must undo its work. */
  | 'fenced'
  /** Another attempt has made this document, whether or not it was deleted since. */
  | 'exists'

export interface DocumentRecords {
  /**
   * From here on the promotion has succeeded. Opens: sent once.
   * @param replaced expired, and its bytes given back: this one takes its place, and remembers for audits how it was counted
   */
  record(document: WorkspaceDocument, signal: AbortSignal, replaced?: CountedBytes): Promise<RecordOutcome>
  /**
   * Makes sure that the attempt can never record its document, or finds that it has.
   * @returns 'recorded' when its document is there, or has been deleted or replaced since; 'fenced' when it never will be
   */
  fence(attempt: Attempt, signal: AbortSignal): Promise<'recorded' | 'fenced'>
  find(workspaceId: WorkspaceId, documentId: DocumentId, signal: AbortSignal): Promise<WorkspaceDocument | undefined>
  /** Finds the document, or the tombstone of a deleted one. */
  findEvenDeleted(
    workspaceId: WorkspaceId,
    documentId: DocumentId,
    signal: AbortSignal,
  ): Promise<WorkspaceDocument | DeletedDocument | undefined>
  /** As {@link DocumentRecords.findEvenDeleted}, for up to a hundred different ids at once. */
  findAllEvenDeleted(
    workspaceId: WorkspaceId,
    documentIds: readonly DocumentId[],
    signal: AbortSignal,
  ): Promise<(WorkspaceDocument | DeletedDocument)[]>
  /**
   * Turns the attempt's document into a tombstone, which holds its bytes until they are given back.
   * @param expiredByMs only if it has expired by then, ms since 1970
   * @returns the release that its bytes are handed over to, if there is one yet; undefined when they were given back, or it has not expired
   */
  delete(
    document: DocumentOfAttempt,
    signal: AbortSignal,
    expiredByMs?: number,
  ): Promise<{ releasedBy: ReleaseId | undefined } | undefined>
  /** Hands the bytes of a tombstone over to a release. @returns the one that they are handed over to; undefined: they were given back */
  handOver(release: MarkedRelease, signal: AbortSignal): Promise<ReleaseId | undefined>
  /** Lets the tombstone expire in a day, once the release has given the bytes back. */
  expireTombstone(
    release: Pick<Release, 'workspaceId' | 'documentId' | 'releaseId'>,
    signal: AbortSignal,
  ): Promise<void>
}

export type DocumentOfAttempt = Pick<WorkspaceDocument, 'workspaceId' | 'documentId' | 'attemptId'>

export interface DeletedDocument extends DocumentOfAttempt, CountedBytes {
  objectKey: string
  /** Whether its bytes were given back. */
  isGivenBack: boolean
  /** It was deleted because it had expired. */
  isExpired?: true
  isDeleted: true
}
