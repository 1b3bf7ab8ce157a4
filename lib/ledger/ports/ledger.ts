import type { ReleaseId, WorkspaceId } from '../../ids.ts'
import type { Retention } from '../expiry.ts'
import type { Attempt } from './documents.ts'

export interface StorageUsage {
  quotaBytes: number
  usedBytes: number
}

/** A ledger counts documents and their bytes, in the same writes. */
export interface Counts {
  usedBytes: number
  documents: number
}

/** A marker in the ledger: bytes that an attempt has taken; whether they are kept, its document says. */
export interface Taking extends Omit<Attempt, 'objectKey'> {
  sizeBytes: number
  /** ms since 1970. A marker that is older than this is a leftover. */
  leaseEndsAtMs: number
}

/** A marker in the ledger: bytes, still counted, that are about to be given back. */
export interface Release extends Taking {
  releaseId: ReleaseId
}

/** Names a marker: the release's if there is a release id, otherwise the attempt's taking. */
export type Marker = Pick<Taking, 'workspaceId' | 'attemptId'> & { releaseId?: ReleaseId }

export interface WorkspaceSettings extends Retention {
  quotaBytes: number
  /** The limit of each of its keys that has none of its own; their records repeat it. Missing: the service's. */
  requestsPerMinute?: number | undefined
}

/** One item for each workspace, as of one moment. */
export interface WorkspaceLedger extends WorkspaceSettings, Counts {
  workspaceId: WorkspaceId
  createdAt: Date
  /** Grows with every write. */
  version: number
  takings: Taking[]
  releases: Release[]
}

export type TakeOutcome =
  /** `ledger.version` is the first version that counts the bytes. */
  | { outcome: 'taken'; ledger: WorkspaceLedger }
  | { outcome: 'quota_exceeded'; ledger: WorkspaceLedger }
  /** For all that time, the ledger had all the markers that it may have, or DynamoDB throttled it. */
  | { outcome: 'crowded'; ledger?: WorkspaceLedger }

/**
 * Counts the documents and bytes of workspaces. Each change is a single write: what opens (take, mark) is sent once, what closes
 * (all others) may be repeated at any time (docs/reliability.md).
 *
 * All ports throw ServiceError service_unavailable when their store does not answer or throttles, and request_timed_out
 * when the signal aborts; `isUnanswered` says that the write may still arrive. Anything else they throw is unforeseen.
 */
export interface Ledger {
  /** Consistently. @throws UnreadableItemError */
  read(workspaceId: WorkspaceId, signal: AbortSignal): Promise<WorkspaceLedger | undefined>
  /** For answers that tell it: may be a moment old. */
  usage(workspaceId: WorkspaceId, signal: AbortSignal): Promise<StorageUsage | undefined>
  /** Counts the bytes and marks that, or says why not. A new workspace begins with the default quota. @param retryForMs how long to try a crowded ledger again */
  take(taking: Taking, signal: AbortSignal, retryForMs: number): Promise<TakeOutcome>
  /** Never repeat a failed call under the same id. @returns a version that has the marker */
  mark(release: Release, signal: AbortSignal, retryForMs: number): Promise<{ markedIn: number } | 'crowded'>
  /** Removes a marker, if it is there; the bytes stay counted. */
  unmark(marker: Marker, signal: AbortSignal): Promise<void>
  /** Gives back the bytes of a marker, if it is there, and removes it, that of a release with the taking. @returns the usage after it; undefined when they had been given back */
  giveBack(marker: Marker, signal: AbortSignal): Promise<StorageUsage | undefined>
}
