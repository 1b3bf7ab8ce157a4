import type { AttemptId, ReleaseId, WorkspaceId } from '../../ids.ts'
import type { Retention } from '../expiry.ts'
import type { Attempt, MarkedRelease, Release } from './reservations.ts'

/** The marker of bytes that an attempt has taken. */
export type Taking = Pick<Attempt, 'workspaceId' | 'attemptId' | 'sizeBytes' | 'leaseExpiresAtMs'>

/** Names a marker: the release's if there is a release id, otherwise the attempt's taking. */
export interface MarkerId {
  workspaceId: WorkspaceId
  attemptId: AttemptId
  releaseId?: ReleaseId
  /** Set for a release: for the audit, the ledger counts undone attempts that had reserved, as they leave no other trace. */
  cause?: Release['cause']
}

export interface StorageUsage {
  quotaBytes: number
  usedBytes: number
}

export interface TakenBytes {
  usage: StorageUsage
  retention: Retention
  /** The first version of the ledger that counts them. */
  countedFrom: number
}

export type TakeOutcome =
  | ({ outcome: 'taken' } & TakenBytes)
  | { outcome: 'quota_exceeded'; usage: StorageUsage }
  /** For all that time, the ledger had all the takings that it may have, or DynamoDB throttled it. */
  | { outcome: 'crowded' }

/**
 * The ledger of each workspace, one item. Changes are single writes: what opens (take, mark) is sent once, what closes
 * (unmark, giveBack) may be repeated (docs/reliability.md).
 *
 * All ports throw ServiceError service_unavailable when their store does not answer or throttles, and
 * request_timed_out when the signal aborts; `isUnanswered` says that the write may still arrive. Anything else they
 * throw is unforeseen.
 */
export interface QuotaLedger {
  /**
   * Takes the bytes and marks that, or says why not. A new workspace starts with the default quota.
   * @param retryForMs how long to try a crowded ledger again; omitted: not at all
   */
  take(attempt: Attempt, signal: AbortSignal, retryForMs?: number): Promise<TakeOutcome>
  /**
   * Announces that bytes, still counted, will be given back. Never repeat a failed call under the same id.
   * @param retryForMs as for take
   */
  mark(release: Release, signal: AbortSignal, retryForMs?: number): Promise<MarkedRelease | 'crowded'>
  /** Makes sure that the resolver checks the workspace once the lease is over. */
  schedule(work: { workspaceId: WorkspaceId; leaseExpiresAtMs: number }, signal: AbortSignal): Promise<void>
  /** Removes the marker, if it is there; the bytes stay counted. */
  unmark(marker: MarkerId, signal: AbortSignal): Promise<void>
  /** Gives back the marker's bytes and removes it. @returns undefined when it had been done before */
  giveBack(marker: MarkerId, signal: AbortSignal): Promise<StorageUsage | undefined>
  usage(workspaceId: WorkspaceId, signal: AbortSignal): Promise<(StorageUsage & Retention) | undefined>
}
