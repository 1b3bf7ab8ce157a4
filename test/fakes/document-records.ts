import type { DocumentOverview, DocumentRecords, WorkspaceDocument } from '../../lib/promotion/ports.ts'

export interface FakeDocumentRecords extends DocumentRecords, DocumentOverview {
  documents: Map<string, WorkspaceDocument>
  /** When the documents that are gone were made. */
  deleted: Map<string, Date>
}

export function createFakeDocumentRecords(): FakeDocumentRecords {
  const documents = new Map<string, WorkspaceDocument>()
  const fencedAttempts = new Set<string>()
  const deleted = new Map<string, Date>()
  const retiredBy = new Map<string, string>()
  const keyOf = (workspaceId: string, documentId: string) => `${workspaceId}/${documentId}`
  return {
    documents,
    deleted,
    async record(document) {
      const key = keyOf(document.workspaceId, document.documentId)
      const existing = documents.get(key)
      if (existing) return existing.attemptId === document.attemptId ? 'recorded' : 'taken'
      if (fencedAttempts.has(`${key}/${document.attemptId}`)) return 'fenced'
      documents.set(key, document)
      retiredBy.delete(key)
      return 'recorded'
    },
    async fence({ workspaceId, documentId, attemptId }) {
      const key = keyOf(workspaceId, documentId)
      if (documents.get(key)?.attemptId === attemptId) return 'recorded'
      fencedAttempts.add(`${key}/${attemptId}`)
      return 'fenced'
    },
    find: async (workspaceId, documentId) => documents.get(keyOf(workspaceId, documentId)),
    async retire({ workspaceId, documentId, attemptId, objectKey }) {
      const key = keyOf(workspaceId, documentId)
      const document = documents.get(key)
      if (document?.objectKey === objectKey) {
        documents.delete(key)
        deleted.set(key, document.createdAt)
        fencedAttempts.add(`${key}/${document.attemptId}`)
        retiredBy.set(key, attemptId)
      }
      return retiredBy.get(key) === attemptId ? 'retired' : 'absent'
    },
    isRetiredBy: async ({ workspaceId, documentId, attemptId }) =>
      retiredBy.get(keyOf(workspaceId, documentId)) === attemptId,
    async *list(workspaceId) {
      const own = [...documents.values()].filter((document) => document.workspaceId === workspaceId)
      yield* own.toSorted((a, b) => (a.documentId < b.documentId ? -1 : 1))
    },
  }
}
