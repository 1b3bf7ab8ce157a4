import type { AttemptId, DocumentId, WorkspaceId } from '../ids.ts'
import type { Release, ReservationPurpose } from '../promotion/reservations.ts'

/** What the audit can find wrong. */
export type Finding = { workspaceId: WorkspaceId; isRepaired: boolean } & (
  | { kind: 'drift'; usedBytes: number; expectedBytes: number }
  /** A taking or a release stands in the ledger, all else in a reservation of its own. */
  | {
      kind: 'expired_reservation'
      attemptId: AttemptId
      purpose: ReservationPurpose | Release['purpose'] | 'taking'
      sizeBytes: number
      overdueMs: number
    }
  | { kind: 'object_without_document'; objectKey: string; sizeBytes: number }
  /** The record of a document whose bytes are gone. Repairing it means deleting it: restore the bytes first, if you can. */
  | { kind: 'document_without_object'; documentId: DocumentId; objectKey: string; sizeBytes: number }
  /** Never repaired: somebody has to look at it. */
  | { kind: 'wrong_size'; documentId: DocumentId; objectKey: string; sizeBytes: number; objectBytes: number }
  /** Recorded before documents were listed: it can be fetched and deleted, and no list shows it. */
  | { kind: 'unlisted_document'; documentId: DocumentId }
  | { kind: 'old_upload'; objectKey: string; ageMs: number }
  /** An item that is not as this service writes it; with one among them, a workspace cannot be added up. */
  | { kind: 'unreadable_item'; message: string }
  /** Auditing the workspace failed again and again, so that it was left out. */
  | { kind: 'not_audited'; message: string }
)

export type FindingKind = Finding['kind']

export const FINDING_KINDS = Object.keys({
  drift: true,
  expired_reservation: true,
  object_without_document: true,
  document_without_object: true,
  wrong_size: true,
  unlisted_document: true,
  old_upload: true,
  unreadable_item: true,
  not_audited: true,
} satisfies Record<FindingKind, true>) as FindingKind[]

export interface AuditCounters {
  workspaces: number
  documents: number
  documentBytes: number
  findings: number
  repaired: number
  /** Workspaces whose bytes could not be added up. */
  notAddedUp: number
}

export interface AuditReport extends AuditCounters {
  /** Whether all was looked at: false when the time was used up. */
  isComplete: boolean
}

export const NOTHING_AUDITED: Readonly<AuditCounters> = {
  workspaces: 0,
  documents: 0,
  documentBytes: 0,
  findings: 0,
  repaired: 0,
  notAddedUp: 0,
}

/**
 * The same for the same finding, in every slice and round: a slice that is repeated, because its process was killed, reports
 * again what it had reported.
 */
export function findingId({ kind, workspaceId, ...facts }: Finding): string {
  const { attemptId, purpose, documentId, objectKey, message } = facts as Record<string, unknown>
  return [kind, workspaceId, attemptId, purpose, objectKey ?? documentId, message].filter(Boolean).join(' ')
}
