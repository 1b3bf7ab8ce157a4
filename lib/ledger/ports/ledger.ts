import type { RefundId, WorkspaceId } from '../../ids.ts'
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

/** Bytes that the ledger counts for an attempt. Its document says whether they are kept. */
export interface Hold extends Omit<Attempt, 'objectKey'> {
  sizeBytes: number
  /** ms since 1970. A hold that is older than this is a leftover. */
  leaseEndsAtMs: number
}

export interface Refund extends Hold {
  refundId: RefundId
}

export type HoldKey = Pick<Hold, 'workspaceId' | 'attemptId'>
export type RefundKey = Pick<Refund, 'workspaceId' | 'attemptId' | 'refundId'>

export interface WorkspaceSettings extends Retention {
  quotaBytes: number
  /** Of all its keys together that have no limit of their own. Missing: the service's. */
  requestsPerMinute?: number | undefined
  /** Its keys are refused, and nothing else changes. */
  isDisabled?: true | undefined
  /** What the platform calls it: 1 to 128 characters. */
  label?: string | undefined
}

/** The end of a workspace: from the request on, it is closed. All times are ms since 1970. */
export interface Erasure {
  state: 'scheduled' | 'erasing' | 'verifying' | 'erased'
  requestedAtMs: number
  beginsAtMs: number
  /** When the next step is to be done; missing: none is left. */
  dueAtMs?: number | undefined
  /** Counted when it began. */
  usedBytes?: number | undefined
  documents?: number | undefined
  /** Everything that was found had gone for the first time; nothing was found any more. */
  endedAtMs?: number | undefined
  verifiedAtMs?: number | undefined
  /** Objects that S3 has refused to delete, and why. */
  refused?: number | undefined
  reason?: string | undefined
  /** Why S3 lists no container files to us, which end by the bucket's own rule. */
  deniedSandbox?: string | undefined
}

/** One item for each workspace, as of one moment. */
export interface WorkspaceLedger extends WorkspaceSettings, Counts {
  workspaceId: WorkspaceId
  createdAt: Date
  version: number
  holds: Hold[]
  refunds: Refund[]
  erasure?: Erasure | undefined
}

export type HoldOutcome =
  /** `ledger.version` is the first version that counts the bytes. */
  | { outcome: 'held'; ledger: WorkspaceLedger }
  | { outcome: 'quota_exceeded'; ledger: WorkspaceLedger }
  | { outcome: 'closed'; ledger: WorkspaceLedger }
  /** The whole time, all places in the ledger were taken, or DynamoDB throttled it. */
  | { outcome: 'crowded'; ledger?: WorkspaceLedger }

/**
 * Counts the documents and bytes of workspaces. Each change is a single write: `hold` and `beginRefund` are sent once, all
 * others may be repeated at any time (docs/reliability.md).
 *
 * All ports throw ServiceError service_unavailable when their store does not answer or throttles, and request_timed_out
 * when the signal aborts; `isUnanswered` says that the write may still arrive. Anything else they throw is unforeseen.
 */
export interface Ledger {
  /** Consistently. @throws UnreadableItemError */
  read(workspaceId: WorkspaceId, signal: AbortSignal): Promise<WorkspaceLedger | undefined>
  /** For answers that tell it: may be a moment old. */
  usage(workspaceId: WorkspaceId, signal: AbortSignal): Promise<StorageUsage | undefined>
  /** Counts the bytes, or says why not. A new workspace begins with the default quota. @param retryForMs how long to try a crowded ledger again */
  hold(hold: Hold, signal: AbortSignal, retryForMs: number): Promise<HoldOutcome>
  /** Ends a hold, if it is there: its bytes stay counted. */
  capture(hold: HoldKey, signal: AbortSignal): Promise<void>
  /** Ends a hold, if it is there: its bytes are free again. */
  void(hold: HoldKey, signal: AbortSignal): Promise<void>
  /** Never repeat a failed call under the same id. @returns a version that has the refund */
  beginRefund(refund: Refund, signal: AbortSignal, retryForMs: number): Promise<{ refundVersion: number } | 'crowded'>
  /** Ends a refund that no document names: the bytes stay counted. */
  cancelRefund(refund: RefundKey, signal: AbortSignal): Promise<void>
  /** Ends a refund, if it is there, with the hold of its attempt: its bytes are free again. @returns the usage after it; undefined when it had been paid */
  payRefund(refund: RefundKey, signal: AbortSignal): Promise<StorageUsage | undefined>
}
