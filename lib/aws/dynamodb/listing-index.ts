import type { ListPosition } from '../../documents/document-listing.ts'

/** Index of the Documents table by workspace_id and listed_at. Contains only documents. */
export const LISTING_INDEX = 'documents-by-creation'

/**
 * The order of creation as text: the moment in ISO 8601, then the id to break ties. Nothing that may change: a list that
 * is under way would show a document twice, or not.
 */
export function listedAt({ createdAt, documentId }: ListPosition): string {
  return `${createdAt.toISOString()} ${documentId}`
}
