import type { DocumentRecords, WorkspaceDocument } from '../../lib/promotion/ports.ts'

export interface FakeDocumentRecords extends DocumentRecords {
  documents: Map<string, WorkspaceDocument>
}

export function createFakeDocumentRecords(): FakeDocumentRecords {
  const documents = new Map<string, WorkspaceDocument>()
  const fencedAttempts = new Set<string>()
  const keyOf = (workspaceId: string, documentId: string) => `${workspaceId}/${documentId}`
  return {
    documents,
    async record(document) {
      const key = keyOf(document.workspaceId, document.documentId)
      const existing = documents.get(key)
      if (existing) return existing.attemptId === document.attemptId ? 'recorded' : 'taken'
      if (fencedAttempts.has(`${key}/${document.attemptId}`)) return 'fenced'
      documents.set(key, document)
      return 'recorded'
    },
    async fence({ workspaceId, documentId, attemptId }) {
      const key = keyOf(workspaceId, documentId)
      if (documents.get(key)?.attemptId === attemptId) return 'recorded'
      fencedAttempts.add(`${key}/${attemptId}`)
      return 'fenced'
    },
    find: async (workspaceId, documentId) => documents.get(keyOf(workspaceId, documentId)),
  }
}
