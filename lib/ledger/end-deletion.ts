import type { RefundId } from '../ids.ts'
import type { LedgerDependencies } from './dependencies.ts'
import type { DeletedDocument } from './ports/documents.ts'
import type { StorageUsage } from './ports/ledger.ts'

/**
 * Goes on with a deletion. Only the refund that the document names is paid, and only once, even while S3 is away.
 * @param nameRefund the refund that the document names; undefined: the document is not there any more
 */
export async function endDeletion(
  document: DeletedDocument,
  nameRefund: () => Promise<RefundId | undefined>,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<{ document: DeletedDocument; usage?: StorageUsage | undefined }> {
  const { workspaceId, attemptId } = document
  const refund = async () => {
    const refundId = await nameRefund()
    const usage = refundId && (await deps.ledger.payRefund({ workspaceId, attemptId, refundId }, signal))
    return { refundId, usage }
  }
  // A process that takes over cannot tell whether the object is gone, so each deletes it again.
  const [refunded, discarded] = await Promise.allSettled([refund(), deps.objects.discard(document, signal)])
  if (refunded.status === 'rejected') throw refunded.reason
  if (discarded.status === 'rejected') throw discarded.reason
  const { refundId, usage } = refunded.value
  if (refundId) await deps.documents.bury(document, refundId, signal)
  return { document, usage }
}
