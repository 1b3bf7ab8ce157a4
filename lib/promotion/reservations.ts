import type { AttemptId, DocumentId, ReleaseId, WorkspaceId } from '../ids.ts'
import type { OnUnreadable } from '../unreadable-item.ts'

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
