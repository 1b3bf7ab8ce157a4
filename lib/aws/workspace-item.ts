import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { AttemptId, DocumentId, WorkspaceId } from '../promotion/ids.ts'
import type {
  OpenReservation,
  Reservation,
  ReservationPurpose,
  StorageUsage,
  WorkspaceLedger,
} from '../promotion/ports.ts'

/** An item of the Workspaces table: a counter and its open reservations, changed together or not at all. */
export interface WorkspaceItem {
  workspace_id: string
  quota_bytes: number
  /** quota_bytes less the bytes of documents and reservations. Stored because conditions cannot do arithmetic. */
  remaining_bytes: number
  /** By document id. */
  reservations: Record<string, ReservationItem>
  /** Counts the changes. */
  version: number
  /** Counts the changes of the quota; not there before the first. */
  quota_changes?: number
}

export interface ReservationItem {
  purpose: ReservationPurpose
  attempt_id: string
  size_bytes: number
  object_key: string
  /** ms since 1970. */
  lease_expires_at: number
}

export function toWorkspaceItem(attributes: Record<string, AttributeValue>): WorkspaceItem {
  return unmarshall(attributes) as WorkspaceItem
}

export function newWorkspaceItem(workspaceId: WorkspaceId, quotaBytes: number, usedBytes = 0): WorkspaceItem {
  return {
    workspace_id: workspaceId,
    quota_bytes: quotaBytes,
    remaining_bytes: quotaBytes - usedBytes,
    reservations: {},
    version: 0,
  }
}

export function toReservationItem(reservation: Reservation, purpose: ReservationPurpose): ReservationItem {
  return {
    purpose,
    attempt_id: reservation.attemptId,
    size_bytes: reservation.sizeBytes,
    object_key: reservation.objectKey,
    lease_expires_at: reservation.leaseExpiresAtMs,
  }
}

export function openReservations(item: WorkspaceItem): OpenReservation[] {
  return Object.entries(item.reservations).map(([documentId, reservation]) => ({
    workspaceId: item.workspace_id as WorkspaceId,
    documentId: documentId as DocumentId,
    attemptId: reservation.attempt_id as AttemptId,
    sizeBytes: reservation.size_bytes,
    objectKey: reservation.object_key,
    leaseExpiresAtMs: reservation.lease_expires_at,
    purpose: reservation.purpose,
  }))
}

export function usageOf(item: Pick<WorkspaceItem, 'quota_bytes' | 'remaining_bytes'>): StorageUsage {
  return { quotaBytes: item.quota_bytes, usedBytes: item.quota_bytes - item.remaining_bytes }
}

export function toWorkspaceLedger(item: WorkspaceItem): WorkspaceLedger {
  return {
    workspaceId: item.workspace_id as WorkspaceId,
    ...usageOf(item),
    reservations: openReservations(item),
    version: item.version,
  }
}
