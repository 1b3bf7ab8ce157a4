import { beforeEach, expect } from 'vitest'
import type { DocumentId, WorkspaceId } from '../../../lib/ids.ts'
import type { DocumentMaintenance } from '../../../lib/maintenance/document-maintenance.ts'
import type { DocumentRecords, WorkspaceDocument } from '../../../lib/promotion/document-records.ts'
import { LEASE_END_MS, newDocument, newRelease, newReservation, newWorkspaceId } from './ledger-values.ts'

type Documents = DocumentRecords & DocumentMaintenance

const { signal } = new AbortController()

/** A store of documents and a workspace, new for each test, and what the contracts do with them. */
export function useDocuments(make: () => Documents) {
  let records: Documents
  let workspaceId: WorkspaceId
  beforeEach(() => {
    records = make()
    workspaceId = newWorkspaceId()
  })

  /** Each of an attempt later than those before. */
  const document = (documentId?: DocumentId) =>
    newDocument(newReservation({ workspaceId, sizeBytes: 5 * 1024 ** 3, ...(documentId && { documentId }) }))
  const find = (of: WorkspaceDocument) => records.find(of.workspaceId, of.documentId, signal)
  const record = (each: WorkspaceDocument) => records.record(each, signal)
  const recorded = async (each = document()) => {
    expect(await record(each)).toBe('recorded')
    return each
  }
  const rowOf = async ({ documentId }: WorkspaceDocument) => {
    for await (const row of records.listRows(workspaceId, signal)) if (row.documentId === documentId) return row
    return undefined
  }
  const fence = (of: WorkspaceDocument) => records.fence({ ...of, leaseExpiresAtMs: LEASE_END_MS }, signal)
  const deletionOf = (of: WorkspaceDocument) => newRelease(of, 'deletion')
  const remove = async (each: WorkspaceDocument) => {
    const deletion = deletionOf(each)
    expect(await records.retire(deletion, signal)).toMatchObject({ objectKey: each.objectKey })
    await records.finish(deletion, signal)
    return deletion
  }

  return {
    get records() {
      return records
    },
    get workspaceId() {
      return workspaceId
    },
    document,
    find,
    record,
    recorded,
    rowOf,
    fence,
    deletionOf,
    remove,
  }
}
