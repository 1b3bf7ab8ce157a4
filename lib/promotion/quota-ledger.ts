import type { AttemptId, ReleaseId, WorkspaceId } from '../ids.ts'
import type { MarkedRelease, Release, Reservation } from './reservations.ts'

/** Bytes taken for a reservation that may not be open yet. */
export type Taking = Pick<Reservation, 'workspaceId' | 'attemptId' | 'sizeBytes' | 'leaseExpiresAtMs'>

/** A marker stands in the ledger for the milliseconds until the reservation or document is written too. */
export interface MarkerId {
  workspaceId: WorkspaceId
  attemptId: AttemptId
  releaseId?: ReleaseId
  /** Of a release: the audit must know of undos, which leave no other trace. */
  purpose?: Release['purpose']
}

export interface StorageUsage {
  quotaBytes: number
  usedBytes: number
}

export interface TakenBytes {
  usage: StorageUsage
  /** The first version of the ledger that counts them. */
  countedFrom: number
}

export type TakeOutcome =
  | ({ outcome: 'taken' } & TakenBytes)
  | { outcome: 'quota_exceeded'; usage: StorageUsage }
  /** The item holds its maximum of takings, or DynamoDB throttles its writes: try again. */
  | { outcome: 'crowded' }

/**
 * The counter of each workspace, one item. Changes are single writes: what opens (take, mark) is sent once, what closes
 * (unmark, release) may be repeated (docs/reliability.md).
 *
 * All ports throw ServiceError service_unavailable when their store does not answer or throttles, and
 * promotion_timed_out when the signal aborts; `isUnanswered` says that the write may still arrive. Anything else they
 * throw is unforeseen.
 */
export interface QuotaLedger {
  /** Takes the bytes and marks that, or says why not. A new workspace starts with the default quota. */
  take(reservation: Reservation, signal: AbortSignal): Promise<TakeOutcome>
  /** Announces that bytes, still counted, will be given back. Never repeat a failed try under the same id. */
  mark(release: Release, signal: AbortSignal): Promise<MarkedRelease | 'crowded'>
  /** Makes sure that the resolver looks at the workspace's reservations once the lease is over. */
  schedule(work: { workspaceId: WorkspaceId; leaseExpiresAtMs: number }, signal: AbortSignal): Promise<void>
  /** Removes the marker, if it is there; the bytes stay counted. */
  unmark(marker: MarkerId, signal: AbortSignal): Promise<void>
  /** Gives back the marker's bytes and removes it. @returns undefined when it had been done before */
  release(marker: MarkerId, signal: AbortSignal): Promise<StorageUsage | undefined>
  usage(workspaceId: WorkspaceId, signal: AbortSignal): Promise<StorageUsage | undefined>
}
