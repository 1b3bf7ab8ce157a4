import type { AuditedItem } from '../../audit/ports/document-maintenance.ts'
import type { AttemptId, DocumentId, ReleaseId } from '../../ids.ts'
import type { CountedBytes } from '../../ledger/ports/document-records.ts'
import { readDocument, readRecord, type TombstoneItem } from './document-item.ts'
import type { Attributes } from './stored-item.ts'

/** @throws UnreadableItemError */
export function readAuditedItem(attributes: Attributes): AuditedItem {
  const item = readRecord(attributes)
  const documentId = item.document_id as DocumentId
  const replaced = item.replaced && countedByTombstone(item.replaced)
  if (item.record_kind !== 'document') {
    const isUnfinished = item.attempt_id !== undefined && item.ttl_at === undefined
    return { documentId, counted: countedByTombstone(item), replaced, ...(isUnfinished && { isUnfinished }) }
  }
  const document = readDocument(attributes)
  const { attemptId, sizeBytes, countedFrom } = document
  return { documentId, document, counted: { attemptId, sizeBytes, countedFrom }, replaced }
}

function countedByTombstone(item: Partial<TombstoneItem>): CountedBytes | undefined {
  const { attempt_id, size_bytes: sizeBytes, counted_from: countedFrom = 0, released_by, marked_in: markedIn } = item
  if (attempt_id === undefined || sizeBytes === undefined) return undefined
  const bytes = { attemptId: attempt_id as AttemptId, sizeBytes, countedFrom }
  if (released_by === undefined || markedIn === undefined) return bytes
  return { ...bytes, releasedBy: released_by as ReleaseId, markedIn }
}
