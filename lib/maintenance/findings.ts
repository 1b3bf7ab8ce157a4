import type { AttemptId, DocumentId, WorkspaceId } from '../ids.ts'
import type { Release, ReservationPurpose } from '../promotion/reservations.ts'

export type Finding = { workspaceId: WorkspaceId; isRepaired: boolean } & (
  | { kind: 'drift'; usedBytes: number; expectedBytes: number }
  /** A taking or a release is in the ledger, anything else is an item of Reservations. */
  | {
      kind: 'expired_reservation'
      attemptId: AttemptId
      purpose: ReservationPurpose | Release['purpose'] | 'taking'
      sizeBytes: number
      overdueMs: number
    }
  | { kind: 'object_without_document'; objectKey: string; sizeBytes: number }
  /** The bytes of a document are gone. Repairing means deleting its record: restore the bytes first, if you can. */
  | { kind: 'document_without_object'; documentId: DocumentId; objectKey: string; sizeBytes: number }
  /** Never repaired: somebody has to look at it. */
  | { kind: 'wrong_size'; documentId: DocumentId; objectKey: string; sizeBytes: number; objectBytes: number }
  /** Recorded before there were lists: it can be fetched and deleted, but no list shows it. */
  | { kind: 'unlisted_document'; documentId: DocumentId }
  | { kind: 'old_upload'; objectKey: string; ageMs: number }
  /** An item in a form that this service does not write; a workspace that has one cannot be added up. */
  | { kind: 'unreadable_item'; message: string }
  /** The audit of the workspace kept failing, so it was skipped. */
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
  /** false when time ran out before everything was looked at. */
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

/** The same for the same finding, in every slice and round: a slice that is repeated reports its findings again. */
export function findingId({ kind, workspaceId, ...facts }: Finding): string {
  const { attemptId, purpose, documentId, objectKey, message } = facts as Record<string, unknown>
  return [kind, workspaceId, attemptId, purpose, objectKey ?? documentId, message].filter(Boolean).join(' ')
}
