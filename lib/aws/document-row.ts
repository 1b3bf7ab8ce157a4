import type { AttemptId, DocumentId, ReleaseId } from '../ids.ts'
import type { CountedBytes, DocumentRow } from '../maintenance/document-maintenance.ts'
import {
  type RecordItem,
  readRecord,
  readStoredDocument,
  type TombstoneItem,
  tombstoneMadeAtMs,
} from './document-item.ts'
import { MAX_FORMER, readFormer } from './former-documents.ts'
import type { Attributes } from './stored-item.ts'

/** @throws UnreadableItemError */
export function readDocumentRow(attributes: Attributes): DocumentRow {
  const item = readRecord(attributes)
  const documentId = item.document_id as DocumentId
  if (item.record_kind !== 'document') return { documentId, counted: [...ofTombstone(item), ...ofFormer(item)] }
  const document = readStoredDocument(attributes)
  const { attemptId, sizeBytes, countedFrom, createdAt } = document
  const current: CountedBytes = {
    state: 'document',
    attemptId,
    sizeBytes,
    countedFrom,
    createdAtMs: createdAt.getTime(),
  }
  return { documentId, document, counted: [current, ...ofFormer(item)] }
}

function ofTombstone(item: TombstoneItem): CountedBytes[] {
  if (item.retired_by === undefined || item.former?.[item.attempt_id ?? ''] !== undefined) return []
  if (item.expires_at !== undefined) return [{ state: 'unrecorded', finishedAtMs: tombstoneMadeAtMs(item.expires_at) }]
  const counted = howItWasCounted(item)
  return [counted ? { state: 'retired', retiredBy: item.retired_by as ReleaseId, ...counted } : { state: 'unrecorded' }]
}

/** @returns undefined for a document that an older release retired */
export function howItWasCounted(item: RecordItem) {
  if (item.attempt_id === undefined || item.size_bytes === undefined || item.created_at === undefined) return undefined
  return {
    attemptId: item.attempt_id as AttemptId,
    sizeBytes: item.size_bytes,
    countedFrom: item.counted_from,
    createdAtMs: Date.parse(item.created_at),
  }
}

function ofFormer(item: RecordItem): CountedBytes[] {
  const former = readFormer(item.former)
  const [oldest] = former
  const all: CountedBytes[] = former.map((each) => ({ state: 'former', ...each }))
  // The list is full: there may have been more.
  if (oldest && former.length >= MAX_FORMER) all.push({ state: 'truncated', countedThrough: oldest.countedThrough })
  return all
}
