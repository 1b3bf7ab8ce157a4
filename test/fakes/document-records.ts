import type { DocumentId, WorkspaceId } from '../../lib/ids.ts'
import type { DocumentMaintenance, TableWorkspaces } from '../../lib/maintenance/ports.ts'
import type { DocumentRecords, WorkspaceDocument } from '../../lib/promotion/ports.ts'
import { createFakeTableWorkspaces } from './table-workspaces.ts'

interface Tombstone {
  attemptId?: string
  objectKey?: string
  /** Of the document that was there. */
  createdAt?: Date
  retiredBy?: string
  isFinished: boolean
}

export interface FakeDocumentRecords extends DocumentRecords, DocumentMaintenance, TableWorkspaces {
  documents: Map<string, WorkspaceDocument>
  tombstones: Map<string, Tombstone>
  /** Keys of documents that no list shows. */
  unlisted: Set<string>
}

export function createFakeDocumentRecords(): FakeDocumentRecords {
  const documents: FakeDocumentRecords['documents'] = new Map()
  const tombstones: FakeDocumentRecords['tombstones'] = new Map()
  const unlisted: FakeDocumentRecords['unlisted'] = new Set()
  const fencedThrough = new Map<string, string>()
  const keyOf = (workspaceId: string, documentId: string) => `${workspaceId}/${documentId}`
  const isRetiredBy = (key: string, releaseId: string) => tombstones.get(key)?.retiredBy === releaseId
  const workspacesNow = () =>
    [...documents.keys(), ...tombstones.keys()].map((key) => key.slice(0, key.indexOf('/')) as WorkspaceId)
  return {
    ...createFakeTableWorkspaces(workspacesNow),
    documents,
    tombstones,
    unlisted,
    async enlist({ workspaceId, documentId }) {
      unlisted.delete(keyOf(workspaceId, documentId))
    },
    async record(document) {
      const key = keyOf(document.workspaceId, document.documentId)
      if (documents.has(key)) return 'taken'
      const tombstone = tombstones.get(key)
      if (tombstone) {
        const isFenced = (fencedThrough.get(key) ?? '') >= document.attemptId
        const isNewer = (tombstone.attemptId ?? '') < document.attemptId
        if (isFenced || !tombstone.isFinished || !isNewer) return 'fenced'
      }
      documents.set(key, document)
      tombstones.delete(key)
      return 'recorded'
    },
    async fence({ workspaceId, documentId, attemptId }) {
      const key = keyOf(workspaceId, documentId)
      const holder = documents.get(key) ?? tombstones.get(key)
      if (holder?.attemptId === attemptId) return 'recorded'
      if ((fencedThrough.get(key) ?? '') < attemptId) fencedThrough.set(key, attemptId)
      if (!holder) tombstones.set(key, { isFinished: true })
      return 'fenced'
    },
    find: async (workspaceId, documentId) => documents.get(keyOf(workspaceId, documentId)),
    async retire({ workspaceId, documentId, attemptId, releaseId }) {
      const key = keyOf(workspaceId, documentId)
      const document = documents.get(key)
      if (document?.attemptId === attemptId) {
        documents.delete(key)
        tombstones.set(key, {
          attemptId,
          objectKey: document.objectKey,
          createdAt: document.createdAt,
          retiredBy: releaseId,
          isFinished: false,
        })
      }
      return isRetiredBy(key, releaseId) ? { objectKey: tombstones.get(key)?.objectKey ?? '' } : undefined
    },
    async finish({ workspaceId, documentId, releaseId }) {
      const key = keyOf(workspaceId, documentId)
      const tombstone = tombstones.get(key)
      if (tombstone && isRetiredBy(key, releaseId)) tombstone.isFinished = true
    },
    isRetiredBy: async ({ workspaceId, documentId, releaseId }) =>
      isRetiredBy(keyOf(workspaceId, documentId), releaseId),
    async *listRows(workspaceId, _signal, { after = '' } = {}) {
      const prefix = `${workspaceId}/`
      const own = [...documents.keys(), ...tombstones.keys()].filter((key) => key.startsWith(prefix))
      for (const documentId of own.map((key) => key.slice(prefix.length)).toSorted() as DocumentId[]) {
        const key = keyOf(workspaceId, documentId)
        const document = documents.get(key)
        if (documentId <= after || !(document ?? tombstones.has(key))) continue
        yield {
          documentId,
          ...(document && { document: unlisted.has(key) ? { ...document, isUnlisted: true } : document }),
        }
      }
    },
    async *list(workspaceId) {
      const own = [...documents.values()].filter((document) => document.workspaceId === workspaceId)
      for (const document of own.toSorted((a, b) => (a.documentId < b.documentId ? -1 : 1))) {
        yield unlisted.has(keyOf(workspaceId, document.documentId)) ? { ...document, isUnlisted: true } : document
      }
    },
  }
}
