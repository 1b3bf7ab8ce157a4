import { type AttemptId, type DocumentId, documentIdOfAttempt, type ReleaseId, type WorkspaceId } from '../../ids.ts'
import type { Retention } from '../../ledger/expiry.ts'
import type { Release, StorageUsage, Taking, WorkspaceLedger } from '../../next/ports/ledger.ts'
import { type Attributes, readItem, readMap } from '../dynamodb/stored-item.ts'

/** An item of the Workspaces table: what is counted, and the markers of changes whose counterpart is not written yet. */
export interface WorkspaceItem {
  workspace_id: string
  quota_bytes: number
  /** quota_bytes less what is counted. Stored because conditions cannot do arithmetic. */
  remaining_bytes: number
  /** By attempt id. */
  takings: Record<string, TakingItem>
  /** By release id. */
  releases: Record<string, ReleaseItem>
  version: number
  /** How long documents are kept, in seconds. Missing: for ever. */
  expire_after?: number
  expire_at_most?: number
  /** The version before an audit's last correction. */
  corrected_in?: number
}

/** One-letter names: each byte is written with every promotion of the workspace. */
interface TakingItem {
  /** Size in bytes. */
  n: number
  /** End of the lease, ms since 1970. */
  l: number
  /** Document id, stored unless it is made from the attempt's. */
  d?: string
}

interface ReleaseItem extends TakingItem {
  /** Attempt id. */
  a: string
}

/**
 * Versions start at the clock, in ms: an item takes fewer than 1,000 writes a second, so when a workspace is made
 * again, its versions are later than any that its former documents mention.
 */
export function newWorkspaceItem(
  workspaceId: WorkspaceId,
  { quotaBytes, nowMs, usedBytes = 0 }: { quotaBytes: number; nowMs: number; usedBytes?: number },
): WorkspaceItem {
  return {
    workspace_id: workspaceId,
    quota_bytes: quotaBytes,
    remaining_bytes: quotaBytes - usedBytes,
    takings: {},
    releases: {},
    version: nowMs,
  }
}

export function takingItem({ documentId, attemptId, sizeBytes, leaseEndsAtMs }: Taking): TakingItem {
  const isImplied = documentId === documentIdOfAttempt(attemptId)
  return { n: sizeBytes, l: leaseEndsAtMs, ...(!isImplied && { d: documentId }) }
}

export const releaseItem = (release: Release): ReleaseItem => ({ ...takingItem(release), a: release.attemptId })

/** @throws UnreadableItemError */
export function usageOf(attributes: Attributes): StorageUsage {
  const { quota_bytes, remaining_bytes } = readItem<WorkspaceItem>(attributes, COUNTED, KEYS)
  return { quotaBytes: quota_bytes, usedBytes: quota_bytes - remaining_bytes }
}

export const retentionOf = (item: Pick<WorkspaceItem, 'expire_after' | 'expire_at_most'>): Retention => ({
  expireAfterSeconds: item.expire_after,
  expireAtMostSeconds: item.expire_at_most,
})

const KEYS = ['workspace_id']
const COUNTED = { quota_bytes: 'number', remaining_bytes: 'number' } as const
const MARKER = { n: 'number', l: 'number' } as const

/** @throws UnreadableItemError */
export function toLedger(attributes: Attributes): WorkspaceLedger {
  const item = readItem<WorkspaceItem>(attributes, { ...COUNTED, version: 'number' }, KEYS)
  const workspaceId = item.workspace_id as WorkspaceId
  const of = `of workspace ${workspaceId}`
  const toTaking = (attemptId: string, { n, l, d }: TakingItem): Taking => ({
    workspaceId,
    documentId: (d ?? documentIdOfAttempt(attemptId as AttemptId)) as DocumentId,
    attemptId: attemptId as AttemptId,
    sizeBytes: n,
    leaseEndsAtMs: l,
  })
  const takings = readMap(item.takings, MARKER, `takings ${of}`)
  const releases = readMap(item.releases, { ...MARKER, a: 'string' }, `releases ${of}`)
  return {
    workspaceId,
    quotaBytes: item.quota_bytes,
    usedBytes: item.quota_bytes - item.remaining_bytes,
    ...retentionOf(item),
    version: item.version,
    takings: takings.map(([id, taking]) => toTaking(id, taking)),
    releases: releases.map(([id, release]) => ({ ...toTaking(release.a, release), releaseId: id as ReleaseId })),
  }
}
