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
  /** The first version of the ledger that counts the bytes; unknown before they are taken. */
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

/** A release as the ledger has marked it. */
export type MarkedRelease = Release & {
  /** The first version of the ledger that has its marker. */
  markedIn: number
}

/**
 * A `claim` keeps the document's other attempts out before this one takes its bytes. A `promotion` holds the bytes of
 * an attempt under way. `forestalled` stands in the place of one that a dead attempt can then never open. Notes are
 * beside them: a `deletion` names a document that somebody has begun to delete, a `late_copy` an object that S3 may still
 * write after its promotion was given up. Only a `promotion` holds bytes.
 */
export type ReservationPurpose = 'claim' | 'promotion' | 'forestalled' | Note
export type Note = 'deletion' | 'late_copy'

export interface OpenReservation extends Reservation {
  purpose: ReservationPurpose
  /** Only this release may give its bytes back. */
  closedBy: ReleaseId | undefined
}

/** One item per attempt, which holds the bytes once the marker is gone from the ledger; and notes beside them. */
export interface Reservations {
  /**
   * Opens: sent once. Attempts at the same document meet here, before they take any bytes.
   * @param dead a claim to be replaced: its attempt can then never open its reservation
   * @returns the reservation or claim that is in the way; undefined when the claim is this attempt's
   */
  claim(reservation: Reservation, signal: AbortSignal, dead?: OpenReservation): Promise<OpenReservation | undefined>
  /**
   * Opens: sent once. One that is open already was opened by this attempt.
   * @param isClaimed succeeds only while the attempt has its claim; otherwise, only while nothing is there
   * @returns 'refused' when it is not open and never will be; 'throttled' when it is not
   */
  open(reservation: Reservation, isClaimed: boolean, signal: AbortSignal): Promise<'opened' | 'refused' | 'throttled'>
  find(
    document: { workspaceId: WorkspaceId; documentId: DocumentId },
    signal: AbortSignal,
  ): Promise<OpenReservation | undefined>
  /**
   * Makes sure that the attempt's reservation is not open and will not be for as long as the lease: removes its claim, or
   * takes its place.
   */
  forestall(reservation: Reservation, isClaimed: boolean, signal: AbortSignal): Promise<'forestalled' | 'open'>
  /** Hands the bytes over to a release. @returns the release that has them; undefined when there is no reservation */
  close(release: Release, signal: AbortSignal): Promise<ReleaseId | undefined>
  /** Its document is recorded, or its bytes were given back or never taken. Does nothing if it is gone. */
  remove(reservation: Pick<Reservation, 'workspaceId' | 'documentId' | 'attemptId'>, signal: AbortSignal): Promise<void>
  /** Whoever looks at the workspace after its lease goes on with it. */
  note(note: Note, reservation: Reservation, signal: AbortSignal): Promise<void>
  /** Unless it was left anew, with another lease. */
  removeNote(note: Note, reservation: Reservation, signal: AbortSignal): Promise<void>
  /** All of a workspace's, in no order. @param onUnreadable gets items that cannot be read, instead of a throw */
  list(workspaceId: WorkspaceId, signal: AbortSignal, onUnreadable?: OnUnreadable): AsyncIterable<OpenReservation>
}
