import type { WorkspaceDocument } from '../../ledger/ports/document-records.ts'

/** Index of the Documents table by workspace_id and listed_at. Contains only documents. */
export const LISTING_INDEX = 'documents-by-creation'

/**
 * The order of creation as text: the moment in ISO 8601, then the id to break ties. A document's own has its expiry
 * behind that, in ms since 1970: the index cannot be given another attribute.
 */
export function listedAt({
  createdAt,
  documentId,
  expiresAt,
}: Pick<WorkspaceDocument, 'createdAt' | 'expiresAt'> & { documentId: string }): string {
  return `${createdAt.toISOString()} ${documentId}${expiresAt ? ` ${expiresAt.getTime()}` : ''}`
}

/** Sorts behind a document listed at this place, whatever its expiry, and before all later ones. */
export const behind = (place: string) => `${place}!`

/** The expiry of a document, if it has one, as its place tells it. */
export function withExpiry(listed_at = ''): { expiresAt?: Date } {
  const [, , expiry] = listed_at.split(' ')
  return expiry === undefined ? {} : { expiresAt: new Date(Number(expiry)) }
}
