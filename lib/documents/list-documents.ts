import { ServiceError } from '../errors.ts'
import { type DocumentId, isDocumentId, type WorkspaceId } from '../ids.ts'
import { compareBytes } from '../object-keys.ts'
import type { DocumentListing, DocumentPageRequest, ListedDocument, ListPosition } from './document-listing.ts'
import { parseCursor } from './list-cursor.ts'

/** Where to continue: a cursor of this list, or the id of the last document seen. */
type Start = { cursor: string } | { documentId: string }

export type DocumentListRequest = Omit<DocumentPageRequest, 'after'> & { after: Start | undefined }

export interface DocumentList {
  workspaceId: WorkspaceId
  documents: ListedDocument[]
  hasMore: boolean
  /** Where the next page begins, if not behind the last of these. */
  last?: ListPosition | undefined
}

/** One page, in the order of creation. @throws ServiceError invalid_cursor */
export async function listDocuments(
  { after: start, ...request }: DocumentListRequest,
  { listing }: { listing: DocumentListing },
  signal: AbortSignal,
): Promise<DocumentList> {
  const { workspaceId } = request
  const after = start && (await locate(workspaceId, start, listing, signal))
  const { items, ...page } = await listing.page({ ...request, after }, signal)
  return { workspaceId, documents: items, ...page }
}

async function locate(workspaceId: WorkspaceId, start: Start, listing: DocumentListing, signal: AbortSignal) {
  if ('cursor' in start) return parseCursor(workspaceId, start.cursor)
  const { documentId } = start
  const position = isDocumentId(documentId) && (await listing.positionOf(workspaceId, documentId, signal))
  if (position) return position
  const detail = 'The workspace has no document with this id, and had none recently.'
  throw new ServiceError('invalid_cursor', { detail })
}

/** Newest first, without those that do not exist. @param ids unchecked */
export async function listDocumentsById(
  { workspaceId, ids }: { workspaceId: WorkspaceId; ids: readonly string[] },
  { listing }: { listing: DocumentListing },
  signal: AbortSignal,
): Promise<DocumentList> {
  const wanted = [...new Set(ids)].filter((id): id is DocumentId => isDocumentId(id))
  const documents = wanted.length === 0 ? [] : await listing.findAll(workspaceId, wanted, signal)
  return { workspaceId, documents: documents.toSorted((a, b) => comparePositions(b, a)), hasMore: false }
}

export function comparePositions(a: ListPosition, b: ListPosition): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || compareBytes(a.documentId, b.documentId)
}
