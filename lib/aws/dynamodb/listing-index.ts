/** Index of the Documents table by workspace_id and listed_at. Contains only documents. */
export const LISTING_INDEX = 'documents-by-creation'

/** The order of creation as text: the moment in ISO 8601, then the id to break ties. */
export function listedAt({ createdAt, documentId }: { createdAt: Date; documentId: string }): string {
  return `${createdAt.toISOString()} ${documentId}`
}
