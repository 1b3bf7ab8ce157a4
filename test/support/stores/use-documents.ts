import { beforeEach, expect } from 'vitest'
import type { DocumentMaintenance } from '../../../lib/audit/ports/document-maintenance.ts'
import type { DocumentId, WorkspaceId } from '../../../lib/ids.ts'
import type { DocumentRecords, WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import { LEASE_END_MS, LEDGER_NOW_MS, newAttempt, newDocument, newRelease, newWorkspaceId } from './ledger-values.ts'

type Documents = DocumentRecords & DocumentMaintenance
/** @param now the clock by which tombstones expire */
export type MakeDocuments = (now: () => number) => Documents

export const DAY_MS = 24 * 60 * 60 * 1000
const { signal } = new AbortController()

/** A store of documents and a workspace, new for each test, and what the contracts do with them. */
export function useDocuments(make: MakeDocuments) {
  const clock = { nowMs: LEDGER_NOW_MS }
  let records: Documents
  let workspaceId: WorkspaceId
  beforeEach(() => {
    clock.nowMs = LEDGER_NOW_MS
    records = make(() => clock.nowMs)
    workspaceId = newWorkspaceId()
  })

  /** Each of an attempt later than those before. */
  const document = (documentId?: DocumentId) =>
    newDocument(newAttempt({ workspaceId, sizeBytes: 5 * 1024 ** 3, ...(documentId && { documentId }) }))
  const find = (of: WorkspaceDocument) => records.find(of.workspaceId, of.documentId, signal)
  const record = (each: WorkspaceDocument) => records.record(each, signal)
  const recorded = async (each = document()) => {
    expect(await record(each)).toBe('recorded')
    return each
  }
  const rowOf = async ({ documentId }: WorkspaceDocument) =>
    (await Array.fromAsync(records.listRows(workspaceId, signal))).find((row) => row.documentId === documentId)
  const fence = (of: WorkspaceDocument) => records.fence({ ...of, leaseExpiresAtMs: LEASE_END_MS }, signal)
  const findEvenDeleted = (of: WorkspaceDocument) => records.findEvenDeleted(of.workspaceId, of.documentId, signal)
  const deletionOf = (of: WorkspaceDocument) => ({ ...newRelease(of, 'deletion'), markedIn: 9 })
  const deleteDocument = (of: WorkspaceDocument) => records.delete(of, signal)
  const remove = async (each: WorkspaceDocument) => {
    const deletion = deletionOf(each)
    expect(await deleteDocument(each)).toEqual({ releasedBy: undefined })
    expect(await records.handOver(deletion, signal)).toBe(deletion.releaseId)
    await records.expire(deletion, signal)
    return deletion
  }

  return {
    clock,
    get records() {
      return records
    },
    get workspaceId() {
      return workspaceId
    },
    document,
    find,
    findEvenDeleted,
    record,
    recorded,
    rowOf,
    fence,
    deletionOf,
    deleteDocument,
    remove,
  }
}
