import type { DocumentListing, ListedDocument, ListPosition } from '../../../lib/documents/document-listing.ts'
import { comparePositions } from '../../../lib/documents/list-documents.ts'
import { hasExpired } from '../../../lib/ledger/expiry.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import type { FakeDocumentRecords } from './document-records.ts'

/** The documents of the fake records as they are listed: at once, as an index without any delay would. */
export function createFakeDocumentListing(
  records: Pick<FakeDocumentRecords, 'documents' | 'tombstones'>,
  now: () => number = Date.now,
): DocumentListing {
  const ofWorkspace = (workspaceId: string) =>
    [...records.documents.values()].filter(
      (document) => document.workspaceId === workspaceId && !hasExpired(document, now()),
    )
  return {
    async page({ workspaceId, order, after, limit }) {
      const sign = order === 'asc' ? 1 : -1
      const behind = ofWorkspace(workspaceId)
        .filter((document) => !after || sign * comparePositions(document, after) > 0)
        .toSorted((a, b) => sign * comparePositions(a, b))
      return { items: behind.slice(0, limit).map(toListed), hasMore: behind.length > limit }
    },
    findAll: async (workspaceId, documentIds) =>
      ofWorkspace(workspaceId)
        .filter(({ documentId }) => documentIds.includes(documentId))
        .map(toListed),
    async positionOf(workspaceId, documentId): Promise<ListPosition | undefined> {
      const key = `${workspaceId}/${documentId}`
      const createdAt = records.documents.get(key)?.createdAt ?? records.tombstones.get(key)?.document?.createdAt
      return createdAt && { createdAt, documentId }
    },
  }
}

function toListed(document: WorkspaceDocument): ListedDocument {
  const { documentId, filename, mimeType, sizeBytes, createdAt, containerId, expiresAt } = document
  return { documentId, filename, mimeType, sizeBytes, createdAt, containerId, ...(expiresAt && { expiresAt }) }
}
