import { CHECK_SHARDS, checkShardOf } from '../../../lib/aws/dynamodb/workspace-item.ts'
import { hasExpired } from '../../../lib/ledger/expiry.ts'
import type { DocumentExpiries } from '../../../lib/ledger/ports/document-expiries.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import type { FakeDocumentRecords } from './document-records.ts'

/** The expiries of the fake records: at once, as an index without any delay would. */
export function createFakeDocumentExpiries(
  records: Pick<FakeDocumentRecords, 'documents'>,
  now: () => number = Date.now,
): DocumentExpiries {
  const expiring = (byMs: number) =>
    [...records.documents.values()]
      .flatMap(({ expiresAt, ...each }) => (expiresAt && expiresAt.getTime() <= byMs ? [{ ...each, expiresAt }] : []))
      .toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime())
  return {
    expiryShards: CHECK_SHARDS,
    async *listExpired({ shard, nowMs }) {
      const page = expiring(nowMs).filter(({ workspaceId }) => checkShardOf(workspaceId) === String(shard))
      if (page.length > 0)
        yield page.map(({ workspaceId, documentId, expiresAt }) => ({ workspaceId, documentId, expiresAt }))
    },
    nextExpiry: async (workspaceId, byMs) => expiring(byMs).find((each) => each.workspaceId === workspaceId)?.expiresAt,
    async setExpiry(read, expiresAt) {
      const key = `${read.workspaceId}/${read.documentId}`
      const document = records.documents.get(key)
      if (document?.attemptId !== read.attemptId || hasExpired(read, now())) return false
      if (read.expiresAt?.getTime() !== document.expiresAt?.getTime()) return false
      const { expiresAt: _, ...kept } = document
      const changed: WorkspaceDocument = { ...kept, ...(expiresAt && { expiresAt }) }
      records.documents.set(key, changed)
      return true
    },
  }
}
