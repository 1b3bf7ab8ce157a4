import type { AttemptId, ContainerId, DocumentId, FilePath, WorkspaceId } from './ids.ts'

/** A file in a container, as it was when it was looked up. */
export interface ContainerFile {
  objectKey: string
  sizeBytes: number
  /** Pins the copy to these very bytes. */
  etag: string
  contentType: string | undefined
  contentEncoding: string | undefined
  contentLanguage: string | undefined
  /** In a storage class that must be restored before it can be read. */
  isArchived: boolean
}

/** A durable document of a workspace. */
export interface WorkspaceDocument {
  workspaceId: WorkspaceId
  documentId: DocumentId
  /** The attempt that made it. */
  attemptId: AttemptId
  objectKey: string
  filename: FilePath
  mimeType: string
  sizeBytes: number
  createdAt: Date
  containerId: ContainerId
  /** Id of the API key that promoted it. */
  createdBy: string
}

/** Bytes taken out of a workspace's quota for a document that is being made. */
export interface Reservation {
  workspaceId: WorkspaceId
  documentId: DocumentId
  attemptId: AttemptId
  sizeBytes: number
  objectKey: string
  /** From then on (ms since 1970) nobody works on it any more and anybody may resolve it. */
  leaseExpiresAtMs: number
}

export interface StorageUsage {
  quotaBytes: number
  /** Documents and reservations together. */
  usedBytes: number
}

export type ReserveOutcome =
  | { outcome: 'reserved'; usage: StorageUsage }
  | { outcome: 'quota_exceeded'; usage: StorageUsage }
  | { outcome: 'too_many_reservations' }
  /** Another attempt holds a reservation for the same document. */
  | { outcome: 'in_progress' }

/**
 * The bytes of every workspace. Each method may be applied twice (the SDK repeats writes whose answer was lost) and then
 * has the effect of once.
 *
 * All ports throw ServiceError service_unavailable when their store does not answer or throttles, promotion_timed_out
 * when the signal aborts them; anything else they throw is unforeseen.
 */
export interface QuotaLedger {
  /** Takes the bytes, or says why not. A workspace never seen before starts with the default quota. */
  reserve(reservation: Reservation, signal: AbortSignal): Promise<ReserveOutcome>
  /** The document is recorded: its bytes stay counted, the reservation goes. */
  settle(reservation: Reservation, signal: AbortSignal): Promise<void>
  /** There will be no document: gives the bytes back. */
  release(reservation: Reservation, signal: AbortSignal): Promise<void>
}

export type RecordOutcome =
  | 'recorded'
  /** This attempt was given up (see fence) and must undo its work. */
  | 'fenced'
  /** Another attempt has made this document. */
  | 'taken'

export interface DocumentRecords {
  /** Makes the document visible: from here on the promotion is a success. Applied twice, still one document. */
  record(document: WorkspaceDocument, signal: AbortSignal): Promise<RecordOutcome>
  /**
   * Makes sure that the attempt can never record its document any more, or finds that it has.
   * @returns 'recorded' when this attempt's document is there, 'fenced' when it is not and never will be
   */
  fence(attempt: Reservation, signal: AbortSignal): Promise<'recorded' | 'fenced'>
  find(workspaceId: WorkspaceId, documentId: DocumentId, signal: AbortSignal): Promise<WorkspaceDocument | undefined>
}

export interface CopyRequest {
  source: ContainerFile
  targetKey: string
  mimeType: string
}

/** The sandboxes of the containers (read only) and the durable storage of the documents. */
export interface ObjectStore {
  findContainerFile(objectKey: string, signal: AbortSignal): Promise<ContainerFile | undefined>
  hasContainer(keyPrefix: string, signal: AbortSignal): Promise<boolean>
  /**
   * Copies the very bytes that were looked up. When it fails, parts of the work may be left: {@link ObjectStore.discard}
   * removes them.
   * @throws ServiceError container_file_changed, container_file_archived
   */
  copy(request: CopyRequest, signal: AbortSignal): Promise<void>
  /** Removes an attempt's object and its unfinished uploads; nothing there is fine. */
  discard(targetKey: string, signal: AbortSignal): Promise<void>
}
