import type { ListedDocument } from '../documents/document-listing.ts'
import { formatCursor } from '../documents/list-cursor.ts'
import type { DocumentList } from '../documents/list-documents.ts'
import type { DocumentId } from '../ids.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { AnswerShape } from './file-shape.ts'
import { itemsThatFit } from './items-that-fit.ts'

export const PURPOSES = [
  'assistants',
  'batch',
  'fine-tune',
  'vision',
  'user_data',
  'evals',
  'assistants_output',
  'batch_output',
  'fine-tune-results',
] as const
/** The vendor's word for downloadable output of a tool. */
export const PURPOSE = 'assistants_output' satisfies (typeof PURPOSES)[number]

/** As each vendor has it: the first always names an expiry, the second and the native shape where there is one. */
export function fileResponse(
  document: ListedDocument & Pick<Partial<WorkspaceDocument>, 'sha256'>,
  { shape, label }: AnswerShape,
): Record<string, unknown> {
  const { expiresAt } = document
  if (shape === 'compat_b') {
    return {
      _shape: label,
      id: document.documentId,
      object: 'file',
      bytes: document.sizeBytes,
      created_at: Math.floor(document.createdAt.getTime() / 1000),
      ...(expiresAt && { expires_at: expiresAt.getTime() / 1000 }),
      filename: document.filename,
      purpose: PURPOSE,
      status: 'processed',
    }
  }
  return {
    _shape: label,
    id: document.documentId,
    type: 'file',
    filename: document.filename,
    mime_type: document.mimeType,
    size_bytes: document.sizeBytes,
    created_at: document.createdAt.toISOString(),
    ...((expiresAt || shape === 'compat_a') && { expires_at: expiresAt?.toISOString() ?? null }),
    downloadable: true,
    ...(shape === 'native' && { container_id: document.containerId, sha256: document.sha256 }),
  }
}

/** In the envelope that the dialect's libraries use for paging. */
export function fileListResponse(list: DocumentList, answerShape: AnswerShape): Record<string, unknown> {
  const { shape, label } = answerShape
  const { workspaceId, documents } = list
  const data = itemsThatFit(documents.map((document) => fileResponse(document, answerShape)))
  const isCut = data.length < documents.length
  const last = (isCut ? undefined : list.last) ?? documents[data.length - 1]
  const hasMore = list.hasMore || isCut
  const next = hasMore && last ? formatCursor(workspaceId, last) : null
  const page = {
    _shape: label,
    data,
    first_id: documents[0]?.documentId ?? null,
    last_id: last?.documentId ?? null,
    has_more: hasMore,
  }
  if (shape === 'compat_b') return { object: 'list', ...page }
  return shape === 'compat_a' ? { ...page, next_page: next } : { ...page, cursor: next }
}

export function fileDeletedResponse(id: DocumentId, { shape, label }: AnswerShape): Record<string, unknown> {
  return shape === 'compat_b'
    ? { _shape: label, id, object: 'file', deleted: true }
    : { _shape: label, id, type: 'file_deleted' }
}

/** Describe the bytes. Sent with promotions, documents, their downloads and container files. */
export function contentHeaders(of: { sha256?: string | undefined; contentEncoding?: string | undefined }) {
  return {
    ...(of.sha256 !== undefined && { 'file-sha256': of.sha256 }),
    ...(of.contentEncoding && { 'file-content-encoding': of.contentEncoding }),
  }
}

/** Sent with promotions, lists, deletions and quota refusals. */
export function storageUsageHeaders(quotaBytes: number, usedBytes: number): Record<string, string> {
  return { 'storage-quota-bytes': String(quotaBytes), 'storage-used-bytes': String(usedBytes) }
}
