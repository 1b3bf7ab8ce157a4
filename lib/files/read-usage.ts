import type { WorkspaceId } from '../ids.ts'
import type { Log } from '../logging.ts'
import type { QuotaLedger, StorageUsage } from '../promotion/quota-ledger.ts'

/** For headers that the answer can do without: a failure is logged. */
export async function readUsage(
  { workspaceId, log }: { workspaceId: WorkspaceId; log: Log },
  { ledger }: { ledger: Pick<QuotaLedger, 'usage'> },
  signal: AbortSignal,
): Promise<StorageUsage | undefined> {
  try {
    return await ledger.usage(workspaceId, signal)
  } catch (error) {
    log.warn('storage usage not read, request answered without it', { error })
    return undefined
  }
}
