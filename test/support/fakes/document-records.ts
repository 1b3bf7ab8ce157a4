import type { AuditedItem, DocumentMaintenance } from '../../../lib/audit/ports/document-maintenance.ts'
import type { TableWorkspaces } from '../../../lib/audit/ports/table-workspaces.ts'
import type { DocumentId, ReleaseId, WorkspaceId } from '../../../lib/ids.ts'
import { hasExpired } from '../../../lib/ledger/expiry.ts'
import type { CountedBytes, DocumentRecords, WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import { createFakeTableWorkspaces } from './table-workspaces.ts'

interface Tombstone {
  /** What was deleted; missing: nothing, it only keeps attempts out. */
  document?: WorkspaceDocument
  releasedBy?: ReleaseId
  markedIn?: number
  deletedAtMs?: number
  /** Missing: the bytes are not given back. */
  expiresAtMs?: number
}

export interface FakeDocumentRecords extends DocumentRecords, DocumentMaintenance, TableWorkspaces {
  documents: Map<string, WorkspaceDocument>
  tombstones: Map<string, Tombstone>
  replaced: Map<string, CountedBytes>
}

const DAY_MS = 24 * 60 * 60 * 1000

export function createFakeDocumentRecords(now: () => number = Date.now): FakeDocumentRecords {
  const documents: FakeDocumentRecords['documents'] = new Map()
  const tombstones: FakeDocumentRecords['tombstones'] = new Map()
  const replaced: FakeDocumentRecords['replaced'] = new Map()
  const fencedThrough = new Map<string, string>()
  const keyOf = (workspaceId: string, documentId: string) => `${workspaceId}/${documentId}`
  const isExpired = ({ expiresAtMs = Number.POSITIVE_INFINITY }: Tombstone) => expiresAtMs <= now()
  /** An expired tombstone counts as gone. */
  const tombstoneOf = (key: string) => {
    const tombstone = tombstones.get(key)
    return tombstone && !isExpired(tombstone) ? tombstone : undefined
  }
  const isFenced = (key: string, attemptId: string) => (fencedThrough.get(key) ?? '') >= attemptId
  const unreleasedOf = (key: string, attemptId: string) => {
    const tombstone = tombstones.get(key)
    const isUnfinished = tombstone?.document?.attemptId === attemptId && tombstone.expiresAtMs === undefined
    return isUnfinished ? tombstone : undefined
  }
  const rowOf = (key: string): AuditedItem => {
    const document = documents.get(key)
    const { document: deleted, releasedBy, markedIn, expiresAtMs } = tombstones.get(key) ?? {}
    const bytes = document ?? deleted
    return {
      documentId: key.slice(key.indexOf('/') + 1) as DocumentId,
      ...(document && { document }),
      ...(deleted && expiresAtMs === undefined && { isUnfinished: true as const }),
      replaced: replaced.get(key),
      ...(bytes && {
        counted: {
          attemptId: bytes.attemptId,
          sizeBytes: bytes.sizeBytes,
          countedFrom: bytes.countedFrom,
          ...(releasedBy !== undefined && markedIn !== undefined && { releasedBy, markedIn }),
        },
      }),
    }
  }
  const rowsOf = (workspaceId: string): AuditedItem[] => {
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
    replaced,
    async record(document, _signal, before) {
      const key = keyOf(document.workspaceId, document.documentId)
      const tombstone = tombstoneOf(key)
      const isReplaceable =
        before !== undefined &&
        tombstone?.document?.attemptId === before.attemptId &&
        tombstone.expiresAtMs !== undefined &&
        !isFenced(key, document.attemptId)
      if (documents.has(key) || (tombstone?.document && !isReplaceable)) return 'exists'
      if (tombstone && isFenced(key, document.attemptId)) return 'fenced'
      documents.set(key, document)
      tombstones.delete(key)
      if (before) {
        const { attemptId, sizeBytes, countedFrom, releasedBy, markedIn } = before
        replaced.set(key, { attemptId, sizeBytes, countedFrom, releasedBy, markedIn })
      } else replaced.delete(key)
      return 'recorded'
    },
    async fence({ workspaceId, documentId, attemptId }) {
      const key = keyOf(workspaceId, documentId)
      const tombstone = tombstoneOf(key)
      const holder = documents.get(key) ?? tombstone?.document
      if ([holder?.attemptId, replaced.get(key)?.attemptId].includes(attemptId)) return 'recorded'
      const isLater = !isFenced(key, attemptId)
      if (isLater) fencedThrough.set(key, attemptId)
      if (!holder && (!tombstone || isLater)) {
        tombstones.set(key, { expiresAtMs: now() + DAY_MS })
        replaced.delete(key)
      }
      return 'fenced'
    },
    find: async (workspaceId, documentId) => documents.get(keyOf(workspaceId, documentId)),
    async findEvenDeleted(workspaceId, documentId) {
      const key = keyOf(workspaceId, documentId)
      const tombstone = tombstoneOf(key)
      if (!tombstone?.document) return documents.get(key)
      const { attemptId, objectKey, sizeBytes, countedFrom } = tombstone.document
      const { releasedBy, markedIn } = tombstone
      return {
        ...{ workspaceId, documentId, attemptId, objectKey, sizeBytes, countedFrom },
        ...(releasedBy !== undefined && { releasedBy, markedIn }),
        isGivenBack: tombstone.expiresAtMs !== undefined,
        ...(hasExpired(tombstone.document, tombstone.deletedAtMs ?? 0) && { isExpired: true as const }),
        isDeleted: true,
      }
    },
    async findAllEvenDeleted(workspaceId, documentIds, signal) {
      const found = await Promise.all(documentIds.map((id) => this.findEvenDeleted(workspaceId, id, signal)))
      return found.filter((each) => each !== undefined)
    },
    async delete({ workspaceId, documentId, attemptId }, _signal, expiredByMs) {
      const key = keyOf(workspaceId, documentId)
      const document = documents.get(key)
      const isMeant = document && (expiredByMs === undefined || hasExpired(document, expiredByMs))
      if (isMeant && document.attemptId === attemptId) {
        documents.delete(key)
        tombstones.set(key, { document, deletedAtMs: expiredByMs ?? now() })
      }
      const tombstone = unreleasedOf(key, attemptId)
      return tombstone && { releasedBy: tombstone.releasedBy }
    },
    async handOver({ workspaceId, documentId, attemptId, releaseId, markedIn }) {
      const tombstone = unreleasedOf(keyOf(workspaceId, documentId), attemptId)
      if (tombstone && tombstone.releasedBy === undefined) {
        Object.assign(tombstone, { releasedBy: releaseId, markedIn: markedIn })
      }
      return tombstone?.releasedBy
    },
    async expireTombstone({ workspaceId, documentId, releaseId }) {
      const tombstone = tombstones.get(keyOf(workspaceId, documentId))
      if (tombstone?.releasedBy === releaseId) tombstone.expiresAtMs = now() + DAY_MS
    },
    async *list(workspaceId) {
      for (const { document } of rowsOf(workspaceId)) if (document) yield document
    },
    async *listItems(workspaceId, _signal, { after = '' } = {}) {
      for (const row of rowsOf(workspaceId)) if (row.documentId > after) yield row
    },
  }
}
