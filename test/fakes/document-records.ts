import type { DocumentId, ReleaseId, WorkspaceId } from '../../lib/ids.ts'
import type { DocumentMaintenance, DocumentRow } from '../../lib/maintenance/document-maintenance.ts'
import type { TableWorkspaces } from '../../lib/maintenance/table-workspaces.ts'
import type { DocumentRecords, WorkspaceDocument } from '../../lib/promotion/document-records.ts'
import { createFakeTableWorkspaces } from './table-workspaces.ts'

interface Tombstone {
  /** What was deleted; missing: nothing, only attempts are kept out. */
  document?: WorkspaceDocument
  closedBy?: ReleaseId
  closedIn?: number
  /** Missing: the bytes are not given back. */
  expiresAtMs?: number
}

export interface FakeDocumentRecords extends DocumentRecords, DocumentMaintenance, TableWorkspaces {
  documents: Map<string, WorkspaceDocument>
  tombstones: Map<string, Tombstone>
  /** Keys of documents that no list shows. */
  unlisted: Set<string>
}

const DAY_MS = 24 * 60 * 60 * 1000

export function createFakeDocumentRecords(now: () => number = Date.now): FakeDocumentRecords {
  const documents: FakeDocumentRecords['documents'] = new Map()
  const tombstones: FakeDocumentRecords['tombstones'] = new Map()
  const unlisted: FakeDocumentRecords['unlisted'] = new Set()
  const fencedThrough = new Map<string, string>()
  const keyOf = (workspaceId: string, documentId: string) => `${workspaceId}/${documentId}`
  const isExpired = ({ expiresAtMs = Number.POSITIVE_INFINITY }: Tombstone) => expiresAtMs <= now()
  /** As if it were gone. */
  const tombstoneOf = (key: string) => {
    const tombstone = tombstones.get(key)
    return tombstone && !isExpired(tombstone) ? tombstone : undefined
  }
  const isFenced = (key: string, attemptId: string) => (fencedThrough.get(key) ?? '') >= attemptId
  const unfinishedOf = (key: string, attemptId: string) => {
    const tombstone = tombstones.get(key)
    const isUnfinished = tombstone?.document?.attemptId === attemptId && tombstone.expiresAtMs === undefined
    return isUnfinished ? tombstone : undefined
  }
  const rowOf = (key: string): DocumentRow => {
    const document = documents.get(key)
    const { document: deleted, closedBy, closedIn, expiresAtMs } = tombstones.get(key) ?? {}
    const bytes = document ?? deleted
    return {
      documentId: key.slice(key.indexOf('/') + 1) as DocumentId,
      ...(document && { document: unlisted.has(key) ? { ...document, isUnlisted: true as const } : document }),
      ...(deleted && expiresAtMs === undefined && { isUnfinished: true as const }),
      ...(bytes && {
        counted: {
          attemptId: bytes.attemptId,
          sizeBytes: bytes.sizeBytes,
          countedFrom: bytes.countedFrom,
          ...(closedBy !== undefined && closedIn !== undefined && { closedBy, closedIn }),
        },
      }),
    }
  }
  const rowsOf = (workspaceId: string): DocumentRow[] => {
    const keys = new Set([...documents.keys(), ...tombstones.keys()])
    return [...keys]
      .filter((key) => key.startsWith(`${workspaceId}/`))
      .toSorted()
      .map(rowOf)
  }
  const workspacesNow = () =>
    [...documents.keys(), ...tombstones.keys()].map((key) => key.slice(0, key.indexOf('/')) as WorkspaceId)
  return {
    ...createFakeTableWorkspaces(workspacesNow),
    documents,
    tombstones,
    unlisted,
    async addToListing({ workspaceId, documentId }) {
      unlisted.delete(keyOf(workspaceId, documentId))
    },
    async record(document) {
      const key = keyOf(document.workspaceId, document.documentId)
      const tombstone = tombstoneOf(key)
      if (documents.has(key) || tombstone?.document) return 'taken'
      if (tombstone && isFenced(key, document.attemptId)) return 'fenced'
      documents.set(key, document)
      tombstones.delete(key)
      return 'recorded'
    },
    async fence({ workspaceId, documentId, attemptId }) {
      const key = keyOf(workspaceId, documentId)
      const tombstone = tombstoneOf(key)
      const holder = documents.get(key) ?? tombstone?.document
      if (holder?.attemptId === attemptId) return 'recorded'
      if (!isFenced(key, attemptId)) fencedThrough.set(key, attemptId)
      if (!holder && !tombstone) tombstones.set(key, { expiresAtMs: now() + DAY_MS })
      return 'fenced'
    },
    find: async (workspaceId, documentId) => documents.get(keyOf(workspaceId, documentId)),
    async findEvenDeleted(workspaceId, documentId) {
      const key = keyOf(workspaceId, documentId)
      const tombstone = tombstoneOf(key)
      if (!tombstone?.document) return documents.get(key)
      const { attemptId, objectKey, sizeBytes } = tombstone.document
      const isFinished = tombstone.expiresAtMs !== undefined
      return { workspaceId, documentId, attemptId, objectKey, sizeBytes, isFinished, isDeleted: true }
    },
    async retire({ workspaceId, documentId, attemptId }) {
      const key = keyOf(workspaceId, documentId)
      const document = documents.get(key)
      if (document?.attemptId === attemptId) {
        documents.delete(key)
        tombstones.set(key, { document })
      }
      const tombstone = unfinishedOf(key, attemptId)
      return tombstone && { closedBy: tombstone.closedBy }
    },
    async close({ workspaceId, documentId, attemptId, releaseId, markedIn }) {
      const tombstone = unfinishedOf(keyOf(workspaceId, documentId), attemptId)
      if (tombstone && tombstone.closedBy === undefined) {
        Object.assign(tombstone, { closedBy: releaseId, closedIn: markedIn })
      }
      return tombstone?.closedBy
    },
    async finish({ workspaceId, documentId, releaseId }) {
      const tombstone = tombstones.get(keyOf(workspaceId, documentId))
      if (tombstone?.closedBy === releaseId) tombstone.expiresAtMs = now() + DAY_MS
    },
    async *list(workspaceId) {
      for (const { document } of rowsOf(workspaceId)) if (document) yield document
    },
    async *listRows(workspaceId, _signal, { after = '' } = {}) {
      for (const row of rowsOf(workspaceId)) if (row.documentId > after) yield row
    },
  }
}
