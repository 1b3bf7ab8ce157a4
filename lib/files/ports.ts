import type { DocumentId, WorkspaceId } from '../ids.ts'
import type { ContainerFile, WorkspaceDocument } from '../promotion/ports.ts'

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

export interface Page<Item> {
  items: Item[]
  hasMore: boolean
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

/** A file as a listing of its container shows it. */
export interface ListedContainerFile {
  objectKey: string
  sizeBytes: number
  modifiedAt: Date
}

export interface ContainerFiles {
  findContainerFile(objectKey: string, signal: AbortSignal): Promise<ContainerFile | undefined>
  hasContainer(keyPrefix: string, signal: AbortSignal): Promise<boolean>
  /**
   * Objects under a prefix by ascending key (UTF-8 bytes), whatever their keys look like, read page by page.
   * @param afterKey only what comes behind it; it need not be there
   * @param pageSize objects asked for at once, at most 1,000
   */
  listContainerFiles(
    request: { keyPrefix: string; afterKey: string | undefined; pageSize: number },
    signal: AbortSignal,
  ): AsyncIterable<ListedContainerFile>
}

/** What a presigned URL gives out, and under which names. */
export interface SignedDownload {
  objectKey: string
  /** Sent as Content-Type, whatever the object was stored with. */
  contentType: string
  contentDisposition: string
}

/** Presigned GETs: whoever has one reads this object, and nothing else, until it expires. Signing calls nobody. */
export interface DownloadSigner {
  readonly lifetimeSeconds: number
  signDocument(download: SignedDownload): Promise<string>
  signContainerFile(download: SignedDownload): Promise<string>
}

export interface DocumentObjects {
  /** @returns undefined when the object is lost */
  findDocumentObject(objectKey: string, signal: AbortSignal): Promise<{ isArchived: boolean } | undefined>
}
