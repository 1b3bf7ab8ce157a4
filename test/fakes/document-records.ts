import type { DocumentId, ReleaseId, WorkspaceId } from '../../lib/ids.ts'
import type { DocumentMaintenance, DocumentRow } from '../../lib/maintenance/document-maintenance.ts'
import type { TableWorkspaces } from '../../lib/maintenance/table-workspaces.ts'
import type { DocumentRecords, FormerDocument, WorkspaceDocument } from '../../lib/promotion/document-records.ts'
import { createFakeTableWorkspaces } from './table-workspaces.ts'

interface Tombstone {
  attemptId?: string
  objectKey?: string
  /** Of the document that was there. */
  createdAt?: Date
  document?: WorkspaceDocument
  retiredBy?: ReleaseId
  isFinished: boolean
  finishedAtMs?: number
}

export interface FakeDocumentRecords extends DocumentRecords, DocumentMaintenance, TableWorkspaces {
  documents: Map<string, WorkspaceDocument>
  tombstones: Map<string, Tombstone>
  /** Documents that were deleted, by their key. */
  former: Map<string, FormerDocument[]>
  /** Keys of documents that no list shows. */
  unlisted: Set<string>
}

export function createFakeDocumentRecords(now: () => number = Date.now): FakeDocumentRecords {
  const documents: FakeDocumentRecords['documents'] = new Map()
  const tombstones: FakeDocumentRecords['tombstones'] = new Map()
  const unlisted: FakeDocumentRecords['unlisted'] = new Set()
  const former: FakeDocumentRecords['former'] = new Map()
  const fencedThrough = new Map<string, string>()
  const keyOf = (workspaceId: string, documentId: string) => `${workspaceId}/${documentId}`
  const isRetiredBy = (key: string, releaseId: string) => tombstones.get(key)?.retiredBy === releaseId
  const countedOf = ({ attemptId, sizeBytes, countedFrom, createdAt }: WorkspaceDocument) => ({
    attemptId,
    sizeBytes,
    countedFrom,
    createdAtMs: createdAt.getTime(),
  })
  const rowOf = (key: string): DocumentRow => {
    const document = documents.get(key)
    const tombstone = tombstones.get(key)
    const all = former.get(key) ?? []
    const retired = tombstone?.isFinished ? undefined : tombstone?.document
    const retiredBy = tombstone?.retiredBy as ReleaseId
    const isUnrecorded =
      tombstone?.document && !retired && !all.some(({ attemptId }) => attemptId === tombstone.attemptId)
    const finishedAtMs = tombstone?.finishedAtMs ?? 0
    return {
      documentId: key.slice(key.indexOf('/') + 1) as DocumentId,
      ...(document && { document: unlisted.has(key) ? { ...document, isUnlisted: true as const } : document }),
      counted: [
        ...(document ? [{ state: 'document' as const, ...countedOf(document) }] : []),
        ...(retired ? [{ state: 'retired' as const, retiredBy, ...countedOf(retired) }] : []),
        ...(isUnrecorded ? [{ state: 'unrecorded' as const, finishedAtMs }] : []),
        ...all.map((each) => ({ state: 'former' as const, ...each })),
      ],
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
    former,
    async addToListing({ workspaceId, documentId }) {
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
          document,
          retiredBy: releaseId,
          isFinished: false,
        })
      }
      const { document: retired, objectKey = '' } = tombstones.get(key) ?? {}
      if (!isRetiredBy(key, releaseId)) return undefined
      return { objectKey, counted: retired && countedOf(retired), former: former.get(key) ?? [] }
    },
    async finish({ workspaceId, documentId, releaseId }, _signal, ended) {
      const key = keyOf(workspaceId, documentId)
      const tombstone = tombstones.get(key)
      if (!tombstone || !isRetiredBy(key, releaseId)) return
      Object.assign(tombstone, { isFinished: true, finishedAtMs: now() })
      if (!ended?.retired.counted) return
      const { retired, countedThrough } = ended
      const last = { ...retired.counted, countedThrough, finishedAtMs: now() } as FormerDocument
      former.set(key, [...retired.former.filter((each) => each.attemptId !== last.attemptId), last])
    },
    async *list(workspaceId) {
      for (const { document } of rowsOf(workspaceId)) if (document) yield document
    },
    async *listRows(workspaceId, _signal, { after = '' } = {}) {
      for (const row of rowsOf(workspaceId)) if (row.documentId > after) yield row
    },
  }
}
