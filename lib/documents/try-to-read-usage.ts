import type { WorkspaceId } from '../ids.ts'
import type { Ledger, StorageUsage } from '../ledger/ports/ledger.ts'
import type { Log } from '../logging.ts'

/** Reads the usage for headers that the answer can do without: a failure is only logged. */
export async function tryToReadUsage(
  { workspaceId, log }: { workspaceId: WorkspaceId; log: Log },
  { ledger }: { ledger: Pick<Ledger, 'usage'> },
  signal: AbortSignal,
): Promise<StorageUsage | undefined> {
  try {
    return await ledger.usage(workspaceId, signal)
  } catch (error) {
    log.warn('storage usage not read, request answered without it', { error })
    return undefined
  }
}
