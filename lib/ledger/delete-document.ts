import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import { newRefundId, type RefundId } from '../ids.ts'
import { freePlaces } from './clean-ledger.ts'
import type { LedgerDependencies } from './dependencies.ts'
import { endDeletion } from './end-deletion.ts'
import type { DeletedDocument, Deletion, WorkspaceDocument } from './ports/documents.ts'
import type { StorageUsage } from './ports/ledger.ts'

/** How long to retry a crowded ledger: the caller waits. */
const RETRY_FOR_MS = 1000
const MAX_FAILURES = 3
const PAUSE_MS = 50

/**
 * Deletes a document, or whatever an earlier deletion left unfinished. Can be repeated.
 * @returns the tombstone, and the usage if this deletion freed the bytes; undefined: there is nothing to delete
 * @throws ServiceError too_many_deletions
 */
export async function deleteDocument(
  found: WorkspaceDocument | DeletedDocument,
  when: Deletion,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<{ document: DeletedDocument; usage?: StorageUsage | undefined } | undefined> {
  const dueAtMs = deps.now() + deps.leaseMs
  const item = found.state === 'ready' ? await deps.documents.delete(found, { ...when, dueAtMs }, signal) : found
  if (item?.attemptId !== found.attemptId || item.state === 'pending' || item.state === 'ready') return undefined
  if (item.state === 'gone') return { document: item }
  return endDeletion(item, async () => item.refundId ?? beginAndNameRefund(item, deps, signal), deps, signal)
}

async function beginAndNameRefund(document: DeletedDocument, deps: LedgerDependencies, signal: AbortSignal) {
  const { workspaceId, attemptId } = document
  const begun = await beginRefund(document, deps, signal).catch(async (error) => {
    // Without a ledger, it needs an audit; or others have ended this deletion, and then deleted the workspace.
    const item =
      error instanceof ServiceError ? document : await deps.documents.find(document, signal).catch(() => document)
    if (item?.attemptId === attemptId && item.state === 'deleting') throw error
  })
  if (begun === undefined) return undefined
  const named = await deps.documents.nameRefund(document, begun, signal)
  if (named !== begun.refundId)
    await deps.ledger.cancelRefund({ workspaceId, attemptId, refundId: begun.refundId }, signal)
  return named
}

/** Each try has its own id: if the write of a failed one arrives after all, no document names its refund. */
async function beginRefund(
  { workspaceId, documentId, attemptId, sizeBytes }: DeletedDocument,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<{ refundId: RefundId; refundVersion: number }> {
  const bytes = { workspaceId, documentId, attemptId, sizeBytes }
  for (let failures = 1; ; failures++) {
    const refundId = newRefundId()
    try {
      const refund = { ...bytes, refundId, leaseEndsAtMs: deps.now() + deps.leaseMs }
      let begun = await deps.ledger.beginRefund(refund, signal, RETRY_FOR_MS)
      if (begun === 'crowded' && (await freePlaces(deps.ledger.read(workspaceId, signal), deps, signal)))
        begun = await deps.ledger.beginRefund(refund, signal, 0)
      if (begun === 'crowded') throw new ServiceError('too_many_deletions')
      return { refundId, ...begun }
    } catch (error) {
      const isWorthAnother = error instanceof ServiceError && error.reason === 'service_unavailable'
      if (!isWorthAnother || failures === MAX_FAILURES) throw error
    }
    await sleep(PAUSE_MS * (0.5 + Math.random()))
  }
}
