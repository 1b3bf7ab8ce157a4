import type { AttemptId, DocumentId, ReleaseId, WorkspaceId } from '../ids.ts'
import type { OnUnreadable } from '../unreadable-item.ts'

/** Bytes taken from a workspace's quota for a document in the making. */
export interface Reservation {
  workspaceId: WorkspaceId
  documentId: DocumentId
  attemptId: AttemptId
  sizeBytes: number
  objectKey: string
  /** From then on (ms since 1970) nobody works on it any more, and anybody may resolve it. */
  leaseExpiresAtMs: number
  /** The first version of the ledger that counts the bytes; unknown for attempts of older releases. */
  countedFrom?: number
}

/** Bytes about to be given back: those of an attempt being undone, or of a document being deleted. */
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

/**
 * A `promotion` is under way. A `late_copy` holds no bytes; it names an object that S3 may still write after its
 * promotion was given up. A `fence` holds no bytes either; it keeps out the opening of a reservation that was never
 * answered.
 */
export type ReservationPurpose = 'promotion' | 'late_copy' | 'fence'

export interface OpenReservation extends Reservation {
  purpose: ReservationPurpose
  /** Only this release may give its bytes back. */
  closedBy: ReleaseId | undefined
}

/** One item per attempt, which holds the bytes once the marker is gone from the ledger. */
export interface Reservations {
  /** Opens: sent once. Twins (attempts at the same document) meet here. */
  open(
    reservation: Reservation,
    signal: AbortSignal,
  ): Promise<{ outcome: 'opened' } | { outcome: 'in_progress'; other: OpenReservation }>
  find(
    document: { workspaceId: WorkspaceId; documentId: DocumentId },
    signal: AbortSignal,
  ): Promise<OpenReservation | undefined>
  /**
   * Makes sure that a reservation whose opening was never answered does not exist and never will.
   * @returns 'open' when it exists; 'occupied' when another attempt's does: it may be gone by the time the opening
   * arrives
   */
  forestall(reservation: Reservation, signal: AbortSignal): Promise<'forestalled' | 'open' | 'occupied'>
  /** Hands the bytes over to a release. @returns undefined when there is no reservation, or another release has it */
  close(release: Release, signal: AbortSignal): Promise<OpenReservation | undefined>
  /** Its document is recorded, or its bytes were given back. Does nothing if it is gone. */
  remove(reservation: Reservation, signal: AbortSignal): Promise<void>
  /** Leaves a `late_copy` until the lease is over: S3 may still finish a copy that was given up. */
  watch(reservation: Reservation, signal: AbortSignal): Promise<void>
  removeWatch(reservation: Reservation, signal: AbortSignal): Promise<void>
  /** All of a workspace's, in no order. @param onUnreadable gets items that cannot be read, instead of a throw */
  list(workspaceId: WorkspaceId, signal: AbortSignal, onUnreadable?: OnUnreadable): AsyncIterable<OpenReservation>
}
