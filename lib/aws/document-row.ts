import type { AttemptId, DocumentId, ReleaseId } from '../ids.ts'
import type { CountedBytes, DocumentRow } from '../maintenance/document-maintenance.ts'
import { readRecord, readStoredDocument, type TombstoneItem } from './document-item.ts'
import type { Attributes } from './stored-item.ts'

/** @throws UnreadableItemError */
export function readDocumentRow(attributes: Attributes): DocumentRow {
  const item = readRecord(attributes)
  const documentId = item.document_id as DocumentId
  if (item.record_kind !== 'document') {
    const isUnfinished = item.attempt_id !== undefined && item.expires_at === undefined
    return { documentId, counted: countedByTombstone(item), ...(isUnfinished && { isUnfinished }) }
  }
  const document = readStoredDocument(attributes)
  const { attemptId, sizeBytes, countedFrom } = document
  return { documentId, document, counted: { attemptId, sizeBytes, countedFrom } }
}

function countedByTombstone(item: TombstoneItem): CountedBytes | undefined {
  const { attempt_id, size_bytes: sizeBytes, counted_from: countedFrom, closed_by, closed_in: closedIn } = item
  if (attempt_id === undefined || sizeBytes === undefined) return undefined
  // 0.2.0 did not say how; its deletions had ended before this version began.
  if (closed_by === undefined && item.expires_at !== undefined) return undefined
  const bytes = { attemptId: attempt_id as AttemptId, sizeBytes, countedFrom }
  if (closed_by === undefined || closedIn === undefined) return bytes
  return { ...bytes, closedBy: closed_by as ReleaseId, closedIn }
}
