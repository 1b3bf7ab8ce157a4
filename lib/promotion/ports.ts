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
  modifiedAt: Date
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

/**
 * What an open reservation was made for. A `deletion` holds the bytes of a document until its record and object are gone;
 * a `late_copy` holds no bytes and names an object that S3 may still write after its promotion was given up; a `closed`
 * one holds none, either, and only keeps a late repetition of the write that opened it from being taken for a new one.
 */
export type ReservationPurpose = 'promotion' | 'deletion' | 'late_copy' | 'closed'

/** A reservation as it stands in the ledger. */
export interface OpenReservation extends Reservation {
  purpose: ReservationPurpose
}

/**
 * A reservation about to be closed. When the write that opened it may arrive once more (`mayRepeat`), a `closed` one
 * stays in its place until the lease runs out.
 */
export type Closing = Reservation & { mayRepeat?: boolean }

export interface StorageUsage {
  quotaBytes: number
  /** Documents and reservations together. */
  usedBytes: number
}

/**
 * `mayRepeat`: the SDK sent the write more than once, and one of these may still arrive. A refusal names all open
 * reservations: those whose lease ran out may be all that stands in the way.
 */
export type ReserveOutcome = { mayRepeat: boolean } & (
  | { outcome: 'reserved'; usage: StorageUsage }
  | { outcome: 'quota_exceeded'; usage: StorageUsage; open: OpenReservation[] }
  | { outcome: 'too_many_reservations'; open: OpenReservation[] }
  /** Another attempt holds a reservation for the same document. */
  | { outcome: 'in_progress'; open: OpenReservation[] }
)

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
  /** The bytes stay as they are counted, the reservation goes: the document of a promotion is recorded. */
  settle(reservation: Closing, signal: AbortSignal): Promise<void>
  /** Gives the bytes back: there will be no document, or none any more. */
  release(reservation: Closing, signal: AbortSignal): Promise<void>
  /**
   * Gives the bytes back like release, and leaves a `late_copy` reservation until the lease runs out: S3 may still finish
   * a copy that was aborted here, and somebody must look after it.
   */
  releaseAndWatch(reservation: Reservation, signal: AbortSignal): Promise<void>
  /**
   * Opens a reservation for deleting a document; its bytes stay counted until it is released.
   * @returns 'in_progress' when there is one for this document already, or no ledger of this workspace
   */
  beginDeletion(
    reservation: Reservation,
    signal: AbortSignal,
  ): Promise<{ outcome: 'begun'; mayRepeat: boolean } | { outcome: 'in_progress' }>
  /** Whether anybody works on the document at this moment, as far as the ledger knows. */
  isReserved(document: { workspaceId: WorkspaceId; documentId: DocumentId }, signal: AbortSignal): Promise<boolean>
  usage(workspaceId: WorkspaceId, signal: AbortSignal): Promise<StorageUsage | undefined>
}

/** The ledger of one workspace, read at once. */
export interface WorkspaceLedger extends StorageUsage {
  workspaceId: WorkspaceId
  reservations: OpenReservation[]
  /** Grows with every change: two reads with the same version had nothing happen in between. */
  version: number
}

/** What resolver and audit need beyond single promotions. */
export interface LedgerOverview {
  /** All workspaces, in no order. @param onlyWithReservations leaves out those without an open reservation */
  list(options: { onlyWithReservations: boolean }, signal: AbortSignal): AsyncIterable<WorkspaceLedger>
  read(workspaceId: WorkspaceId, signal: AbortSignal): Promise<WorkspaceLedger | undefined>
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
  /**
   * Makes the document of a deletion's object vanish.
   * @returns 'retired' when this very deletion did it, now or before; 'absent' when there is nothing (left) for it to do
   */
  retire(deletion: Reservation, signal: AbortSignal): Promise<'retired' | 'absent'>
}

export interface DocumentOverview {
  /** All documents of a workspace by ascending id, read page by page. */
  list(workspaceId: WorkspaceId, signal: AbortSignal): AsyncIterable<WorkspaceDocument>
  /** Whether it was this deletion that made the document vanish. */
  isRetiredBy(deletion: Reservation, signal: AbortSignal): Promise<boolean>
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
   * @returns `mayArriveLate`: the SDK sent the copy more than once, and one of these may still write the object
   * @throws ServiceError container_file_changed, container_file_archived
   */
  copy(request: CopyRequest, signal: AbortSignal): Promise<{ mayArriveLate: boolean }>
  /** Removes an attempt's object and its unfinished uploads; nothing there is fine. */
  discard(targetKey: string, signal: AbortSignal): Promise<void>
}

export interface StoredDocumentObject {
  objectKey: string
  sizeBytes: number
}

export interface UnfinishedUpload {
  objectKey: string
  startedAtMs: number
}

export interface DocumentObjectOverview {
  /** Document objects by ascending key, read page by page. */
  listObjects(keyPrefix: string, signal: AbortSignal): AsyncIterable<StoredDocumentObject>
  listUploads(keyPrefix: string, signal: AbortSignal): AsyncIterable<UnfinishedUpload>
  /** What stands between the prefix and the next `/`, with both: the folders of one level. */
  listPrefixes(keyPrefix: string, signal: AbortSignal): AsyncIterable<string>
  hasObject(objectKey: string, signal: AbortSignal): Promise<boolean>
  /** Aborts the unfinished uploads of a key and leaves its object alone. */
  abortUploads(objectKey: string, signal: AbortSignal): Promise<void>
}
