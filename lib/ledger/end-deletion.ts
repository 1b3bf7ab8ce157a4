import type { ReleaseId } from '../ids.ts'
import type { LedgerDependencies } from './dependencies.ts'
import type { DeletedDocument } from './ports/documents.ts'
import type { StorageUsage } from './ports/ledger.ts'

/**
 * Carries a deletion on from wherever it is. Only the release that the bytes are handed over to gives them back, and only
 * once; it does so although S3 may be away.
 * @param handOver tells that release; undefined: the document is not there any more
 */
export async function endDeletion(
  document: DeletedDocument,
  handOver: () => Promise<ReleaseId | undefined>,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<{ document: DeletedDocument; usage?: StorageUsage | undefined }> {
  const { workspaceId, attemptId } = document
  const release = async () => {
    const releaseId = await handOver()
    const usage = releaseId && (await deps.ledger.giveBack({ workspaceId, attemptId, releaseId }, signal))
    return { releaseId, usage }
  }
  // Nobody who goes on can know whether the object was deleted, so everybody deletes it.
  const [released, discarded] = await Promise.allSettled([release(), deps.objects.discard(document, signal)])
  if (released.status === 'rejected') throw released.reason
  if (discarded.status === 'rejected') throw discarded.reason
  const { releaseId, usage } = released.value
  if (releaseId) await deps.documents.bury(document, releaseId, signal)
  return { document, usage }
}
