/** Of the Documents table, by workspace_id and listed_at; only documents are in it. */
export const LISTING_INDEX = 'documents-by-creation'

/** The order of creation as text: ISO 8601 of the moment, then the id where two have the same. */
export function listedAt({ createdAt, documentId }: { createdAt: Date; documentId: string }): string {
  return `${createdAt.toISOString()} ${documentId}`
}
