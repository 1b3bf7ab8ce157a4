import type { AttemptId, DocumentId, WorkspaceId } from '../ids.ts'

export type Finding = FindingFact & { isRepaired: boolean }

/** What each means, and what repairs it: docs/administration.md, "Audit and repair". */
export type FindingFact = { workspaceId: WorkspaceId } & (
  | { kind: 'drift'; usedBytes: number; expectedBytes: number; documents: number; expectedDocuments: number }
  | {
      kind: 'old_leftover'
      attemptId: AttemptId
      leftover: 'hold' | 'promotion' | 'undo' | 'deletion'
      /** undefined: it holds none that are known. */
      sizeBytes?: number | undefined
      overdueMs: number
    }
  | { kind: 'overdue_expiry'; documentId: DocumentId; sizeBytes: number; overdueMs: number }
  | { kind: 'object_without_document'; objectKey: string; sizeBytes: number }
  | { kind: 'document_without_object'; documentId: DocumentId; objectKey: string; sizeBytes: number }
  | { kind: 'wrong_size'; documentId: DocumentId; objectKey: string; sizeBytes: number; objectBytes: number }
  | { kind: 'wrong_sha256'; documentId: DocumentId; objectKey: string; sha256: string; objectSha256: string | null }
  | { kind: 'unreadable_item'; message: string }
  | { kind: 'not_audited'; message: string }
)

export type FindingKind = Finding['kind']

export const FINDING_KINDS = Object.keys({
  drift: 0,
  old_leftover: 0,
  overdue_expiry: 0,
  object_without_document: 0,
  document_without_object: 0,
  wrong_size: 0,
  wrong_sha256: 0,
  unreadable_item: 0,
  not_audited: 0,
} satisfies Record<FindingKind, number>) as FindingKind[]

/** Why a workspace could not be added up. That is not a finding, but proves nothing either. */
export type NotAddedUpReason =
  /** Reading the items took nearly as long as tombstones live. */
  | 'too_slow'
  /** The ledger was made, removed or restored from a backup meanwhile. */
  | 'ledger_replaced'
  /** Some documents cannot be read; each is a finding. */
  | 'unreadable'

export const NOTHING_AUDITED = {
  workspaces: 0,
  documents: 0,
  documentBytes: 0,
  findings: 0,
  repaired: 0,
  notAddedUp: 0,
}
export type AuditCounters = typeof NOTHING_AUDITED

/** A finding has the same id in every slice and round: a slice that is repeated reports its findings again. */
export function findingId({ kind, workspaceId, ...facts }: Finding): string {
  const { attemptId, leftover, documentId, objectKey, message } = facts as Record<string, unknown>
  return [kind, workspaceId, attemptId, leftover, objectKey ?? documentId, message].filter(Boolean).join(' ')
}
