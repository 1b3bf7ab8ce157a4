import { createHash } from 'node:crypto'
import type { AttemptId, DocumentId, ReleaseId, WorkspaceId } from '../ids.ts'
import type { StorageUsage } from '../promotion/quota-ledger.ts'
import type { Release, Reservation } from '../promotion/reservations.ts'
import type { WorkspaceLedger } from '../promotion/workspace-ledgers.ts'
import { type Attributes, readItem, readMap } from './stored-item.ts'

/** An item of the Workspaces table: a counter, and the changes of it whose other side is not written yet. */
export interface WorkspaceItem {
  workspace_id: string
  quota_bytes: number
  /** quota_bytes less the bytes of documents and reservations. Stored because conditions cannot do arithmetic. */
  remaining_bytes: number
  /** By attempt id: bytes taken, whose reservation may not be there yet. */
  takings: Record<string, TakingItem>
  /** By release id: bytes to be given back, whose reservation or document may still be there. */
  releases: Record<string, ReleaseItem>
  /** Counts the changes. */
  version: number
  /** Counts the open reservations that were undone; not there: none was. A short name: the item is to stay below 1 KB. */
  undos?: number
  /** The version before the last correction by an audit. */
  corrected_in?: number
  /** The index of workspaces with reservations: when to look at them, ms since 1970. Not there when there are none. */
  check_due_at?: number
  check_shard?: string
}

/** Names of one letter: each byte here is written with every promotion of the workspace. */
export interface TakingItem {
  /** Size in bytes. */
  n: number
  /** End of the lease, ms since 1970. */
  l: number
}

export interface ReleaseItem extends TakingItem {
  purpose: Release['purpose']
  document_id: string
  attempt_id: string
  /** When its bytes have gone back: the last version that counts them. */
  c?: number
}

export const CHECK_INDEX = 'checks'
/** There may be more one day, but not fewer: entries stay in the shard they were written to. serverless.yml gives each to a run. */
export const CHECK_SHARDS: readonly number[] = Array.from({ length: 16 }, (_, shard) => shard)

/** Spreads the writes of the index; all of a workspace go to one shard. */
export function checkShardOf(workspaceId: WorkspaceId): string {
  const digest = createHash('sha256').update(workspaceId).digest()
  return String((digest[0] ?? 0) % CHECK_SHARDS.length)
}

/** @throws UnreadableItemError */
export function readWorkspaceItem(attributes: Attributes): WorkspaceItem {
  return readItem<WorkspaceItem>(attributes, { quota_bytes: 'number', remaining_bytes: 'number' }, ['workspace_id'])
}

/**
 * Its versions begin with the clock, in ms: there are fewer than 1,000 writes of an item a second, so those of a workspace that
 * is made again are later than all that its former documents tell of.
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

export function takingItem({ sizeBytes, leaseExpiresAtMs }: Reservation): TakingItem {
  return { n: sizeBytes, l: leaseExpiresAtMs }
}

export function releaseItem({ purpose, documentId, attemptId, sizeBytes, leaseExpiresAtMs }: Release): ReleaseItem {
  return { purpose, document_id: documentId, attempt_id: attemptId, n: sizeBytes, l: leaseExpiresAtMs }
}

export function usageOf(item: Pick<WorkspaceItem, 'quota_bytes' | 'remaining_bytes'>): StorageUsage {
  return { quotaBytes: item.quota_bytes, usedBytes: item.quota_bytes - item.remaining_bytes }
}

const TAKING = { n: 'number', l: 'number' } as const
const RELEASE = { ...TAKING, purpose: 'string', document_id: 'string', attempt_id: 'string' } as const

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
    takings: readMap(item.takings, TAKING, `takings ${ofWorkspace}`).map(([id, { n, l }]) => ({
      workspaceId,
      attemptId: id as AttemptId,
      sizeBytes: n,
      leaseExpiresAtMs: l,
    })),
    releases: readMap(item.releases, RELEASE, `releases ${ofWorkspace}`).map(([id, release]) => ({
      workspaceId,
      documentId: release.document_id as DocumentId,
      attemptId: release.attempt_id as AttemptId,
      releaseId: id as ReleaseId,
      purpose: release.purpose,
      sizeBytes: release.n,
      leaseExpiresAtMs: release.l,
    })),
    version: item.version,
    undone: item.undos ?? 0,
    checkDueAtMs: item.check_due_at,
  }
}
