import { marshall } from '@aws-sdk/util-dynamodb'
import {
  type ContainerId,
  documentIdOfAttempt,
  type FilePath,
  newAttemptId,
  newRefundId,
  type WorkspaceId,
} from '../../../lib/ids.ts'
import type { Attempt, PendingDocument, Stray, WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import type { Hold, Refund } from '../../../lib/ledger/ports/ledger.ts'

/** The clock of stores in tests, and the quota of a workspace that nobody gave another one. */
export const LEDGER_NOW_MS = 1_800_000_000_000
export const LEDGER_SETTINGS = { defaultQuotaBytes: 1000, leaseMs: 120_000, now: () => LEDGER_NOW_MS }

/** Of a caller who never gives up. */
export const { signal } = new AbortController()
/** Far from now: no lease ends by itself. */
export const LEASE_END_MS = 1_900_000_000_000

export function newWorkspaceId(): WorkspaceId {
  return `ws_${newAttemptId()}` as WorkspaceId
}

/** An attempt, with the bytes that it takes. */
export type TestAttempt = Attempt & Hold

/** An attempt of its own, as a plain promotion makes it. */
export function newAttempt(change: Partial<TestAttempt> = {}): TestAttempt {
  const attemptId = change.attemptId ?? newAttemptId()
  const documentId = change.documentId ?? documentIdOfAttempt(attemptId)
  const workspaceId = change.workspaceId ?? ('ws_1' as WorkspaceId)
  return {
    workspaceId,
    documentId,
    attemptId,
    sizeBytes: 100,
    objectKey: `documents/${workspaceId}/${documentId}/${attemptId}`,
    leaseEndsAtMs: LEASE_END_MS,
    ...change,
  }
}

export function pendingOf({
  workspaceId,
  documentId,
  attemptId,
  objectKey,
  leaseEndsAtMs: dueAtMs = LEASE_END_MS,
}: Attempt & { leaseEndsAtMs?: number }): PendingDocument {
  return { workspaceId, documentId, attemptId, objectKey, state: 'pending', dueAtMs }
}

/** @param dueAtMs when all that the attempt has sent has arrived */
export const strayOf = (attempt: Attempt, dueAtMs = LEASE_END_MS): Stray => ({
  ...pendingOf({ ...attempt, leaseEndsAtMs: dueAtMs }),
  state: 'stray',
})

/** The document that an attempt makes. */
export function newDocument(
  { leaseEndsAtMs: _, ...attempt }: TestAttempt = newAttempt(),
  change: Partial<WorkspaceDocument> = {},
): WorkspaceDocument {
  return {
    countedFrom: 1,
    ...attempt,
    state: 'ready',
    filename: 'отчёт/結果 📄.csv' as FilePath,
    mimeType: 'text/csv; charset=utf-8',
    createdAt: new Date('2026-11-21T09:38:35.556Z'),
    containerId: 'sess_1' as ContainerId,
    contentEncoding: 'gzip',
    sourceEtag: '"1bc29b36f623ba82aaf6724fd3b16718"',
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    createdBy: 'key_1',
    ...change,
  }
}

/** A ledger's item as the table has it, with nothing under way. */
export const storedLedger = (change: object = {}) =>
  marshall({
    workspace_id: 'ws_1',
    quota_bytes: 1000,
    remaining_bytes: 900,
    documents: 1,
    version: 7,
    created_at: 0,
    holds: {},
    refunds: {},
    ...change,
  })

/** A refund of an attempt's bytes, with an id of its own. */
export function newRefund(
  {
    workspaceId,
    documentId,
    attemptId,
    sizeBytes,
  }: Pick<Refund, 'workspaceId' | 'documentId' | 'attemptId' | 'sizeBytes'>,
  change: Partial<Refund> = {},
): Refund {
  const bytes = { workspaceId, documentId, attemptId, sizeBytes }
  return { ...bytes, refundId: newRefundId(), leaseEndsAtMs: LEASE_END_MS, ...change }
}
