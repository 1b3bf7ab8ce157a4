import type { ContainerFileDescription } from '../containers/container-files.ts'
import type { listContainerFiles } from '../containers/list-container-files.ts'
import type { ListedDocument } from '../documents/document-listing.ts'
import { formatCursor } from '../documents/list-cursor.ts'
import type { DocumentList } from '../documents/list-documents.ts'
import { ServiceError } from '../errors.ts'
import { type DocumentId, formatFileId } from '../ids.ts'
import type { Retention } from '../ledger/expiry.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { WorkspaceLedger } from '../ledger/ports/ledger.ts'
import { itemsThatFit } from './answers.ts'
import { headerValue, type RequestHeaders } from './headers.ts'

export const FILE_SHAPES = ['native', 'compat_a', 'compat_b'] as const
export type FileShape = (typeof FILE_SHAPES)[number]

export interface AnswerShape {
  shape: FileShape
  /** The value of `_shape`. */
  label: string
}

/** Both vendors' libraries send the last one; the first vendor's are recognised earlier, by a header of their own. */
const COMPAT_B_HEADERS = ['OpenAI-Organization', 'OpenAI-Project', 'OpenAI-Beta', 'X-Stainless-Lang'] as const
const COMPAT_B_USER_AGENT = /^(Async)?OpenAI\//
/** This library knows the shapes only by their vendors' names, and takes any other name for unknown. */
const VENDOR_WORDS_USER_AGENT = /^speakeasy-sdk\/.*@openrouter\/sdk/
const VENDOR_WORDS: Record<FileShape, string> = { native: 'openrouter', compat_a: 'anthropic', compat_b: 'openai' }

/**
 * The shape that the request names, else the one that the client's library understands, else native.
 * @throws ServiceError invalid_file_shape
 */
export function chooseShape(event: RequestHeaders): AnswerShape {
  const wanted = headerValue(event, 'File-Shape')
  if (wanted !== undefined) {
    const shape = FILE_SHAPES.find((each) => each === wanted.trim())
    if (shape === undefined) throw new ServiceError('invalid_file_shape')
    return { shape, label: shape }
  }
  const userAgent = headerValue(event, 'User-Agent') ?? ''
  const shape = shapeOfLibrary(event, userAgent)
  return { shape, label: VENDOR_WORDS_USER_AGENT.test(userAgent) ? VENDOR_WORDS[shape] : shape }
}

function shapeOfLibrary(event: RequestHeaders, userAgent: string): FileShape {
  if (headerValue(event, 'Anthropic-Version') !== undefined) return 'compat_a'
  const isCompatB =
    COMPAT_B_USER_AGENT.test(userAgent) || COMPAT_B_HEADERS.some((name) => headerValue(event, name) !== undefined)
  return isCompatB ? 'compat_b' : 'native'
}

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

/** The same for all shapes, in the words that all libraries share. Only native lists add the ETag. */
export function containerFileResponse(file: ContainerFileDescription, shape?: FileShape): Record<string, unknown> {
  return {
    id: formatFileId(file.path),
    object: 'container.file',
    container_id: file.containerId,
    path: file.path,
    bytes: file.sizeBytes,
    created_at: Math.floor(file.modifiedAt.getTime() / 1000),
    // This service has no uploads, so no user uploaded it.
    source: 'assistant',
    ...(shape === 'native' && { etag: file.etag }),
  }
}

/** `last_id` is what libraries send back for the next page, so it is a cursor where a page ends behind other objects. */
export function containerFileListResponse(
  { items, next }: Awaited<ReturnType<typeof listContainerFiles>>,
  shape: FileShape,
) {
  const data = itemsThatFit(items.map((file) => containerFileResponse(file, shape)))
  const isCut = data.length < items.length
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: (isCut ? undefined : next) ?? data.at(-1)?.id ?? null,
    has_more: isCut || next !== undefined,
  }
}

type WorkspaceContent = Pick<WorkspaceLedger, 'quotaBytes' | 'usedBytes' | 'documents'> & Retention

export function describeStorage({ quotaBytes, usedBytes, documents, ...retention }: WorkspaceContent) {
  return {
    quota_bytes: quotaBytes,
    used_bytes: usedBytes,
    remaining_bytes: quotaBytes - usedBytes,
    documents,
    expire_after_seconds: retention.expireAfterSeconds ?? null,
    expire_at_most_seconds: retention.expireAtMostSeconds ?? null,
  }
}
