import type { AttemptId, ReleaseId, WorkspaceId } from '../ids.ts'
import type { Release, Reservation } from './reservations.ts'

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
