import type { DocumentId, WorkspaceId } from '../promotion/ids.ts'
import type { ReservationPurpose } from '../promotion/ports.ts'

/** What the audit can find wrong. */
export type Finding = { workspaceId: WorkspaceId; isRepaired: boolean } & (
  | { kind: 'drift'; usedBytes: number; expectedBytes: number }
  | {
      kind: 'expired_reservation'
      documentId: DocumentId
      purpose: ReservationPurpose
      sizeBytes: number
      overdueMs: number
    }
  | { kind: 'object_without_document'; objectKey: string; sizeBytes: number }
  /** The record of a document whose bytes are gone. Mending means deleting it: restore the bytes first, if you can. */
  | { kind: 'document_without_object'; documentId: DocumentId; objectKey: string; sizeBytes: number }
  /** Never repaired: somebody has to look at it. */
  | { kind: 'wrong_size'; documentId: DocumentId; objectKey: string; sizeBytes: number; objectBytes: number }
  | { kind: 'old_upload'; objectKey: string; ageMs: number }
  /** The workspace was changed under every attempt to add it up; its drift is not known. */
  | { kind: 'not_added_up' }
)

export type FindingKind = Finding['kind']

export interface AuditReport {
  workspaces: number
  documents: number
  documentBytes: number
  findings: number
  repaired: number
}
