import type { AttemptId, DocumentId, ReleaseId, WorkspaceId } from '../../ids.ts'
import type { OnUnreadable } from './unreadable-item.ts'

/** One try to make a document. Each writes an object of its own. */
export interface Attempt {
  workspaceId: WorkspaceId
  documentId: DocumentId
  attemptId: AttemptId
  sizeBytes: number
  objectKey: string
  /** ms since 1970. From then on, anybody may resolve it. */
  leaseExpiresAtMs: number
  /** The first version of the ledger that counts the bytes; unknown before they are taken. */
  countedFrom?: number
}

/** Bytes about to be given back: those of an attempt being undone, or of a document being deleted. */
export interface Release {
  workspaceId: WorkspaceId
  documentId: DocumentId
  /** The attempt whose bytes they are. */
  attemptId: AttemptId
  releaseId: ReleaseId
  cause: 'undo' | 'deletion'
  sizeBytes: number
  leaseExpiresAtMs: number
}

/** A release as the ledger has marked it. */
export type MarkedRelease = Release & {
  /** A version of the ledger that has its marker: the bytes are counted up to it. */
  markedIn: number
}

/**
 * A `claim` keeps the document's other attempts out before this one takes its bytes. A `promotion` is the reservation:
 * it holds the bytes of an attempt under way. A `fence` takes its place when an attempt must never reserve. The others are notes: a
 * `deletion` names a document that somebody has begun to delete, a `late_copy` an object that S3 may still write after
 * its attempt was undone.
 */
export type ReservationPurpose = 'claim' | 'promotion' | 'fence' | Note
export type Note = 'deletion' | 'late_copy'

/** An item of the Reservations table. */
export interface ReservationItem extends Attempt {
  purpose: ReservationPurpose
  /** The release that the bytes were handed over to. */
  releasedBy: ReleaseId | undefined
}

/** One item per attempt, which holds the bytes once the marker is gone from the ledger; and notes beside them. */
export interface Reservations {
  /**
   * Opens: sent once. Attempts at the same document meet here, before they take any bytes.
   * @param abandoned a claim to be replaced: its attempt can then never reserve
   * @returns the reservation or claim that is in the way; undefined when the claim is this attempt's
   */
  claim(attempt: Attempt, signal: AbortSignal, abandoned?: Attempt): Promise<ReservationItem | undefined>
  /**
   * Opens: sent once. If a reservation of this attempt is found, this very call has made it.
   * @param isClaimed true: succeeds only while the attempt has its claim; false: only while nothing is there
   * @returns 'fenced' when there is no reservation and never will be; 'throttled' when there is none
   */
  reserve(attempt: Attempt, isClaimed: boolean, signal: AbortSignal): Promise<'reserved' | 'fenced' | 'throttled'>
  find(
    document: { workspaceId: WorkspaceId; documentId: DocumentId },
    signal: AbortSignal,
  ): Promise<ReservationItem | undefined>
  /**
   * Makes sure that the attempt can never reserve, or finds that it has: removes its claim or, until the given
   * lease ends, puts an item in the place of its reservation.
   */
  fence(attempt: Attempt, isClaimed: boolean, signal: AbortSignal): Promise<'fenced' | 'reserved'>
  /** Hands the bytes over to a release. @returns the one that they are handed over to; undefined when there is no reservation */
  handOver(release: Release, signal: AbortSignal): Promise<ReleaseId | undefined>
  /** Removes an item whose document is recorded, or whose bytes were given back or never taken. May be repeated. */
  remove(attempt: Pick<Attempt, 'workspaceId' | 'documentId' | 'attemptId'>, signal: AbortSignal): Promise<void>
  /** Leaves a note: whoever checks the workspace after its lease goes on with its work. @param attempt with the note's lease */
  note(note: Note, attempt: Attempt, signal: AbortSignal): Promise<void>
  /** Removes a note, unless it was left anew, with another lease. */
  removeNote(note: Note, attempt: Attempt, signal: AbortSignal): Promise<void>
  /** All items of a workspace, in no order. @param onUnreadable gets items that cannot be read, instead of a throw */
  list(workspaceId: WorkspaceId, signal: AbortSignal, onUnreadable?: OnUnreadable): AsyncIterable<ReservationItem>
}
