import type { DocumentId, WorkspaceId } from '../ids.ts'
import type { WorkspaceDocument } from '../promotion/document-records.ts'
import type { Page } from './page.ts'

export type ListedDocument = Pick<WorkspaceDocument, 'documentId' | 'filename' | 'mimeType' | 'sizeBytes' | 'createdAt'>

/** A document's place in the order of creation: the moment, and the id where two have the same. It never changes. */
export interface ListPosition {
  createdAt: Date
  documentId: DocumentId
}

export type ListOrder = 'asc' | 'desc'

export interface DocumentPageRequest {
  workspaceId: WorkspaceId
  order: ListOrder
  /** The page begins after it; it may be gone. */
  after: ListPosition | undefined
  limit: number
}

/** Documents as they are listed to callers. */
export interface DocumentListing {
  /**
   * Full as long as there is more. The index behind it is written a moment after the document is: a document recorded or
   * deleted within the last second may be missing or still be shown.
   */
  page(request: DocumentPageRequest, signal: AbortSignal): Promise<Page<ListedDocument>>
  /** Those of the documents that are there, in no order. @param documentIds at most 100, each once */
  findAll(workspaceId: WorkspaceId, documentIds: readonly DocumentId[], signal: AbortSignal): Promise<ListedDocument[]>
  /**
   * The place of a document that is there, or was there until its deletion some hours ago.
   * @returns undefined for an id that stood for no document, or one deleted long ago
   */
  positionOf(workspaceId: WorkspaceId, documentId: DocumentId, signal: AbortSignal): Promise<ListPosition | undefined>
}
