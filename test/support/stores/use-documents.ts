import { beforeEach, expect } from 'vitest'
import type { DocumentMaintenance } from '../../../lib/audit/ports/document-maintenance.ts'
import type { DocumentId, WorkspaceId } from '../../../lib/ids.ts'
import type { CountedBytes, DocumentRecords, WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import { LEASE_END_MS, LEDGER_NOW_MS, newAttempt, newDocument, newRelease, newWorkspaceId } from './ledger-values.ts'

type Documents = DocumentRecords & DocumentMaintenance
/** @param now the clock by which tombstones expire */
export type MakeDocuments = (now: () => number) => Documents

export const DAY_MS = 24 * 60 * 60 * 1000
const { signal } = new AbortController()

/** A store of documents and a workspace, new for each test, and what the contracts do with them. */
export function useDocuments(make: MakeDocuments) {
  const clock = { nowMs: LEDGER_NOW_MS }
  const on = { clock } as { clock: typeof clock; records: Documents; workspaceId: WorkspaceId }
  beforeEach(() => {
    clock.nowMs = LEDGER_NOW_MS
    Object.assign(on, { records: make(() => clock.nowMs), workspaceId: newWorkspaceId() })
  })

  /** A document whose attempt is later than those before. */
  const document = (documentId?: DocumentId) =>
    newDocument(
      newAttempt({ workspaceId: on.workspaceId, sizeBytes: 5 * 1024 ** 3, ...(documentId && { documentId }) }),
    )
  const find = (of: WorkspaceDocument) => on.records.find(of.workspaceId, of.documentId, signal)
  const record = (each: WorkspaceDocument, replaced?: CountedBytes) => on.records.record(each, signal, replaced)
  const recorded = async (each = document()) => {
    expect(await record(each)).toBe('recorded')
    return each
  }
  const rowOf = async ({ documentId }: WorkspaceDocument) =>
    (await Array.fromAsync(on.records.listItems(on.workspaceId, signal))).find((row) => row.documentId === documentId)
  const fence = (of: WorkspaceDocument) => on.records.fence({ ...of, leaseExpiresAtMs: LEASE_END_MS }, signal)
  const findEvenDeleted = (of: WorkspaceDocument) => on.records.findEvenDeleted(of.workspaceId, of.documentId, signal)
  const deletionOf = (of: WorkspaceDocument) => ({ ...newRelease(of, 'deletion'), markedIn: 9 })
  const deleteDocument = (of: WorkspaceDocument) => on.records.delete(of, signal)
  const remove = async (each: WorkspaceDocument) => {
    const deletion = deletionOf(each)
    expect(await deleteDocument(each)).toEqual({ releasedBy: undefined })
    expect(await on.records.handOver(deletion, signal)).toBe(deletion.releaseId)
    await on.records.expireTombstone(deletion, signal)
    return deletion
  }

  const does = { find, findEvenDeleted, record, recorded, rowOf, fence, deletionOf, deleteDocument, remove }
  return Object.assign(on, { document, ...does })
}
