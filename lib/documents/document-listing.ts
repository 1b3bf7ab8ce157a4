import type { ContainerId, DocumentId, WorkspaceId } from '../ids.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'

export type ListedDocument = Pick<
  WorkspaceDocument,
  'documentId' | 'filename' | 'mimeType' | 'sizeBytes' | 'createdAt' | 'expiresAt' | 'containerId'
>

/** A document's place in the order of creation; the id breaks ties. It never changes. */
export type ListPosition = Pick<WorkspaceDocument, 'createdAt' | 'documentId'>

export type ListOrder = 'asc' | 'desc'

export interface DocumentPageRequest {
  workspaceId: WorkspaceId
  order: ListOrder
  containerId?: ContainerId | undefined
  /** The page begins after it; the document may be gone. */
  after: ListPosition | undefined
  limit: number
}

export interface DocumentListing {
  /**
   * Full unless it is the last page, or has passed over thousands of documents that have expired or came from another
   * container: then `last` is how far it came. A page of one container's documents is not empty if there are more. The
   * index lags the table by about a second: what was recorded or deleted within that time may be missing or still shown.
   */
  page(
    request: DocumentPageRequest,
    signal: AbortSignal,
  ): Promise<{ items: ListedDocument[]; hasMore: boolean; last?: ListPosition }>
  /** The documents that exist and have not expired, in no order. @param documentIds at most 100, without duplicates */
  findAll(workspaceId: WorkspaceId, documentIds: readonly DocumentId[], signal: AbortSignal): Promise<ListedDocument[]>
  /** @returns undefined for an id that never was a document's, or whose document was deleted long ago */
  positionOf(workspaceId: WorkspaceId, documentId: DocumentId, signal: AbortSignal): Promise<ListPosition | undefined>
}
