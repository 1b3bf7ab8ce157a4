import type { AttemptId, ContainerId, DocumentId, FilePath, ReleaseId, WorkspaceId } from '../ids.ts'

/** A container file as found by the lookup. */
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

/** Bytes taken out of a workspace's quota for a document that is being made. */
export interface Reservation {
  workspaceId: WorkspaceId
  documentId: DocumentId
  attemptId: AttemptId
  sizeBytes: number
  objectKey: string
  /** From then on (ms since 1970) nobody works on it any more and anybody may resolve it. */
  leaseExpiresAtMs: number
  /** The first version of the ledger that counts the bytes; not known of attempts of older releases of this service. */
  countedFrom?: number
}

/** Bytes about to be given back: those of an attempt that is undone, or of a document that is deleted. */
export interface Release {
  workspaceId: WorkspaceId
  documentId: DocumentId
  /** Whose bytes they are. */
  attemptId: AttemptId
  releaseId: ReleaseId
  purpose: 'undo' | 'deletion'
  sizeBytes: number
  leaseExpiresAtMs: number
}

/** Bytes that were taken for a reservation which may not be open yet. */
export type Taking = Pick<Reservation, 'workspaceId' | 'attemptId' | 'sizeBytes' | 'leaseExpiresAtMs'>

/**
 * A marker in the ledger: of a taking, or of a release (which has a release id). It stands for some milliseconds, until the
 * other side of the change is written, the reservation or the document.
 */
export interface MarkerId {
  workspaceId: WorkspaceId
  attemptId: AttemptId
  releaseId?: ReleaseId
}

export interface StorageUsage {
  quotaBytes: number
  usedBytes: number
}

export interface GivenBack {
  /** After it. */
  usage: StorageUsage
  /** With a marker that is kept: the last version of the ledger that counts the bytes. */
  countedThrough: number | undefined
}

/** `isDue`: reservations whose lease ran out may be all that stands in the way. */
export type TakeOutcome =
  | { outcome: 'taken'; usage: StorageUsage; countedFrom: number }
  | { outcome: 'quota_exceeded'; usage: StorageUsage; isDue: boolean }
  /** The item has as many takings as it may hold, or more writes than DynamoDB lets through: try again. */
  | { outcome: 'crowded' }

/**
 * The counter of every workspace, as one item each. Each method is one write. docs/reliability.md tells the protocol: what
 * opens (take, mark) is sent once, what closes (unmark, release) may be repeated.
 *
 * All ports throw ServiceError service_unavailable when their store does not answer or throttles, promotion_timed_out
 * when the signal aborts them, with `isUnanswered` when the write may still arrive; anything else they throw is unforeseen.
 */
export interface QuotaLedger {
  /** Takes the bytes and marks it, or says why not. A workspace never seen before starts with the default quota. */
  take(reservation: Reservation, signal: AbortSignal): Promise<TakeOutcome>
  /** Announces that bytes will be given back; they stay counted. A try that failed is not to be repeated under its id. */
  mark(release: Release, signal: AbortSignal): Promise<'marked' | 'crowded'>
  /** The marker goes and the bytes stay as they are counted. Nothing there is fine. */
  unmark(marker: MarkerId, signal: AbortSignal): Promise<void>
  /**
   * The marker goes and its bytes are given back. Nothing there is fine: then that was done before.
   * @param options.keepsMarker the marker stays, without bytes: it is still needed to find what is left to do
   * @returns undefined when there was nothing to do
   */
  release(marker: MarkerId, signal: AbortSignal, options?: { keepsMarker?: boolean }): Promise<GivenBack | undefined>
  usage(workspaceId: WorkspaceId, signal: AbortSignal): Promise<StorageUsage | undefined>
}

/**
 * Why a reservation stands: a `promotion` is under way; a `late_copy` holds no bytes and names an object that S3 may still
 * write after its promotion was given up; a `fence` holds none, either, and keeps the opening of a reservation out that
 * was never answered.
 */
export type ReservationPurpose = 'promotion' | 'late_copy' | 'fence'

export interface OpenReservation extends Reservation {
  purpose: ReservationPurpose
  /** The release that gives its bytes back, and no other. */
  closedBy: ReleaseId | undefined
}

/** The reservations of all workspaces: one item each, which holds the bytes once its marker is gone from the ledger. */
export interface Reservations {
  /** Opens: sent once. Twins, attempts at the same document, meet here. */
  open(
    reservation: Reservation,
    signal: AbortSignal,
  ): Promise<{ outcome: 'opened' } | { outcome: 'in_progress'; other: OpenReservation }>
  find(
    document: { workspaceId: WorkspaceId; documentId: DocumentId },
    signal: AbortSignal,
  ): Promise<OpenReservation | undefined>
  /**
   * Makes sure that a reservation whose opening was never answered is not there and never will be.
   * @returns 'open' when it is there; 'occupied' when another attempt's is, which may go before the opening arrives
   */
  forestall(reservation: Reservation, signal: AbortSignal): Promise<'forestalled' | 'open' | 'occupied'>
  /**
   * Hands the bytes of a reservation to a release.
   * @returns the reservation; undefined when there is none (any more), or another release has it
   */
  close(release: Release, signal: AbortSignal): Promise<OpenReservation | undefined>
  /** The reservation goes: its document is recorded, or its bytes were given back. Nothing there is fine. */
  remove(reservation: Reservation, signal: AbortSignal): Promise<void>
  /** Leaves a `late_copy` reservation until the lease runs out: S3 may still finish a copy that was given up. */
  watch(reservation: Reservation, signal: AbortSignal): Promise<void>
  removeWatch(reservation: Reservation, signal: AbortSignal): Promise<void>
  /** All of a workspace, in no order. @param onUnreadable called for items that cannot be read, instead of throwing */
  list(workspaceId: WorkspaceId, signal: AbortSignal, onUnreadable?: OnUnreadable): AsyncIterable<OpenReservation>
}

/** Called with what cannot be read of a listing; left out, the listing throws. */
export type OnUnreadable = (error: Error) => void

/** The ledger of one workspace, read at once. */
export interface WorkspaceLedger extends StorageUsage {
  workspaceId: WorkspaceId
  takings: Taking[]
  releases: Release[]
  /** Grows with every change: two reads with the same version had nothing happen in between. */
  version: number
  /** Grows with every open reservation that is undone: such an attempt leaves nothing else behind. */
  undone: number
  /** When the resolver is to look at its reservations; undefined: there are none. */
  checkDueAtMs: number | undefined
}

/** The ledgers of single workspaces, for whoever resolves what dead processes left in them. */
export interface WorkspaceLedgers {
  /** @throws Error when the item cannot be read */
  read(workspaceId: WorkspaceId, signal: AbortSignal): Promise<WorkspaceLedger | undefined>
  /**
   * Claims a workspace that is due, for one process alone: for the others it is due again at that time, whatever becomes of
   * this one.
   * @returns the ledger as it is then; undefined when somebody else has claimed it, or set when to look again
   */
  claim(
    workspaceId: WorkspaceId,
    claim: { seenMs: number; untilMs: number },
    signal: AbortSignal,
  ): Promise<WorkspaceLedger | undefined>
  /**
   * Sets when to look at a workspace again, unless somebody else has set it since.
   * @param check.next undefined: no more, unless the ledger has changed since that version
   */
  reschedule(
    workspaceId: WorkspaceId,
    check: { seenMs: number } & ({ nextMs: number } | { nextMs: undefined; version: number }),
    signal: AbortSignal,
  ): Promise<void>
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

export interface CopyRequest {
  source: ContainerFile
  targetKey: string
  mimeType: string
}

/** The sandboxes of the containers (read only) and the durable storage of the documents. */
export interface ObjectStore {
  /** @throws ServiceError container_file_encrypted, container_file_requester_pays */
  findContainerFile(objectKey: string, signal: AbortSignal): Promise<ContainerFile | undefined>
  hasContainer(keyPrefix: string, signal: AbortSignal): Promise<boolean>
  /** The beginning of the very bytes that were looked up; all of a file that is shorter. */
  readStart(file: ContainerFile, sizeBytes: number, signal: AbortSignal): Promise<Uint8Array>
  /**
   * Copies the very bytes that were looked up. When it fails, parts of the work may be left: {@link ObjectStore.discard}
   * removes them.
   * @throws ServiceError container_file_changed, container_file_archived; `isUnanswered` when S3 may still write the object
   */
  copy(request: CopyRequest, signal: AbortSignal): Promise<void>
  /** Removes an attempt's object and its unfinished uploads; nothing there is fine. */
  discard(targetKey: string, signal: AbortSignal): Promise<void>
}
