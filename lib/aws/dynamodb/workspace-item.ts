import { createHash } from 'node:crypto'
import { type AttemptId, type DocumentId, documentIdOfAttempt, type ReleaseId, type WorkspaceId } from '../../ids.ts'
import type { Retention } from '../../ledger/expiry.ts'
import type { StorageUsage } from '../../ledger/ports/quota-ledger.ts'
import type { Attempt, Release } from '../../ledger/ports/reservations.ts'
import type { WorkspaceLedger } from '../../ledger/ports/workspace-ledgers.ts'
import { type Attributes, readItem, readMap } from './stored-item.ts'

/** An item of the Workspaces table: a counter, and those of its changes whose counterpart is not written yet. */
export interface WorkspaceItem {
  workspace_id: string
  quota_bytes: number
  /** quota_bytes less the bytes of documents and reservations. Stored because conditions cannot do arithmetic. */
  remaining_bytes: number
  /** Markers by attempt id: bytes taken whose reservation may not exist yet. */
  takings: Record<string, TakingItem>
  /** Markers by release id: bytes to give back whose reservation or document may still exist. */
  releases: Record<string, ReleaseItem>
  version: number
  /** How long documents are kept, in seconds. Missing: for ever. */
  expire_after?: number
  expire_at_most?: number
  /** Reservations that were undone; missing: none. The name is short because the item should stay below 1 KB. */
  undos?: number
  /** The version before an audit's last correction. */
  corrected_in?: number
  /** In the index of due workspaces: when the resolver is to check this one, ms since 1970. Missing: never. */
  check_due_at?: number
  check_shard?: string
}

/** One-letter names: each byte is written with every promotion of the workspace. */
export interface TakingItem {
  /** Size in bytes. */
  n: number
  /** End of the lease, ms since 1970. */
  l: number
}

interface ReleaseItem extends TakingItem {
  /** Purpose: `u` undo, `d` deletion. */
  p: 'u' | 'd'
  /** Attempt id. */
  a: string
  /** Document id, stored unless it is made from the attempt's. */
  d?: string
}

export const CHECK_INDEX = 'checks'
/** May grow, but never shrink: entries stay in their shard. resolve-reservations.yml gives each shard to a run. */
export const CHECK_SHARDS: readonly number[] = Array.from({ length: 16 }, (_, shard) => shard)

/** Spreads the writes of the index; a workspace always has the same shard. */
export function checkShardOf(workspaceId: WorkspaceId): string {
  const digest = createHash('sha256').update(workspaceId).digest()
  return String((digest[0] ?? 0) % CHECK_SHARDS.length)
}

/** @throws UnreadableItemError */
export function readWorkspaceItem(attributes: Attributes): WorkspaceItem {
  return readItem<WorkspaceItem>(attributes, { quota_bytes: 'number', remaining_bytes: 'number' }, ['workspace_id'])
}

/**
 * Versions start at the clock, in ms: an item takes fewer than 1,000 writes a second, so when a workspace is made
 * again, its versions are later than any that its former documents mention.
 */
export function newWorkspaceItem(workspaceId: WorkspaceId, quotaBytes: number, usedBytes = 0): WorkspaceItem {
  return {
    workspace_id: workspaceId,
    quota_bytes: quotaBytes,
    remaining_bytes: quotaBytes - usedBytes,
    takings: {},
    releases: {},
    version: Date.now(),
  }
}

export function takingItem({ sizeBytes, leaseExpiresAtMs }: Attempt): TakingItem {
  return { n: sizeBytes, l: leaseExpiresAtMs }
}

export function releaseItem({ cause, documentId, attemptId, sizeBytes, leaseExpiresAtMs }: Release): ReleaseItem {
  return {
    n: sizeBytes,
    l: leaseExpiresAtMs,
    p: cause === 'undo' ? 'u' : 'd',
    a: attemptId,
    ...(documentId !== documentIdOfAttempt(attemptId) && { d: documentId }),
  }
}

export function usageOf(item: Pick<WorkspaceItem, 'quota_bytes' | 'remaining_bytes'>): StorageUsage {
  return { quotaBytes: item.quota_bytes, usedBytes: item.quota_bytes - item.remaining_bytes }
}

export function retentionOf(item: Pick<WorkspaceItem, 'expire_after' | 'expire_at_most'>): Retention {
  return { expireAfterSeconds: item.expire_after, expireAtMostSeconds: item.expire_at_most }
}

const TAKING = { n: 'number', l: 'number' } as const
const RELEASE = { ...TAKING, p: 'string', a: 'string' } as const

/** @throws UnreadableItemError */
export function toWorkspaceLedger(attributes: Attributes): WorkspaceLedger {
  const item = readItem<WorkspaceItem>(
    attributes,
    { quota_bytes: 'number', remaining_bytes: 'number', version: 'number' },
    ['workspace_id'],
  )
  const workspaceId = item.workspace_id as WorkspaceId
  const ofWorkspace = `of workspace ${workspaceId}`
  return {
    workspaceId,
    ...usageOf(item),
    ...retentionOf(item),
    takings: readMap(item.takings, TAKING, `takings ${ofWorkspace}`).map(([id, { n, l }]) => ({
      workspaceId,
      attemptId: id as AttemptId,
      sizeBytes: n,
      leaseExpiresAtMs: l,
    })),
    releases: readMap(item.releases, RELEASE, `releases ${ofWorkspace}`).map(([id, release]) => ({
      workspaceId,
      documentId: (release.d ?? documentIdOfAttempt(release.a as AttemptId)) as DocumentId,
      attemptId: release.a as AttemptId,
      releaseId: id as ReleaseId,
      cause: release.p === 'u' ? 'undo' : 'deletion',
      sizeBytes: release.n,
      leaseExpiresAtMs: release.l,
      // Perhaps not the first version with the marker, but the bytes are counted at all versions up to this one.
      markedIn: item.version,
    })),
    version: item.version,
    undos: item.undos ?? 0,
    checkDueAtMs: item.check_due_at,
  }
}
