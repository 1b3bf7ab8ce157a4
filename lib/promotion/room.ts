import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import { cleanLeftovers } from '../ledger/clean-ledger.ts'
import type { LedgerDependencies } from '../ledger/dependencies.ts'
import type { Attempt } from '../ledger/ports/documents.ts'
import type { StorageUsage, WorkspaceLedger } from '../ledger/ports/ledger.ts'
import type { RequestScope } from '../telemetry.ts'

type Ledger = StorageUsage & Pick<WorkspaceLedger, 'erasure'>

/** One for all files of a request. */
export type Room = ReturnType<typeof createRoom>

export function createRoom(
  workspaceId: WorkspaceId,
  { deadline }: Pick<RequestScope, 'deadline'>,
  deps: LedgerDependencies,
) {
  const read = () => deps.ledger.read(workspaceId, deadline.signal)
  let reading: ReturnType<typeof read> | undefined
  let cleaning: ReturnType<typeof read> | undefined
  const ledger = () => (reading ??= read())

  async function clean() {
    const found = await ledger()
    if (!(await cleanLeftovers(found, deps, deadline.signal))) return found
    reading = read()
    return reading
  }

  return {
    /** Reads the ledger once; later it is the one last seen. @returns undefined: there is none yet */
    ledger,
    /** Remembers this ledger if it is newer than the one known. */
    see(seen: WorkspaceLedger): void {
      reading = ledger().then((known) => (known && known.version > seen.version ? known : seen))
    },
    /** Cleans away, only once, what dead processes left in the ledger. @returns the ledger after it */
    cleanLedger: () => (cleaning ??= clean()),
  }
}

export function whyRefused({ quotaBytes, usedBytes, erasure }: Ledger, sizeBytes: number): ServiceError {
  if (erasure) return new ServiceError('workspace_closed')
  const metadata = { quota_bytes: quotaBytes, used_bytes: usedBytes, file_bytes: sizeBytes }
  return new ServiceError('storage_quota_exceeded', { metadata })
}

/**
 * Refuses before the copy what does not fit. What others use meanwhile is found out when the bytes are held.
 * @param twin an item that another request may have made or begun; undefined: there is none
 * @throws ServiceError storage_quota_exceeded, workspace_closed
 */
export async function requireRoom(
  twin: Pick<Attempt, 'workspaceId' | 'documentId'> | undefined,
  sizeBytes: number,
  { room, deadline }: Pick<RequestScope, 'deadline'> & { room: Room },
  deps: LedgerDependencies & { defaultQuotaBytes: number },
): Promise<void> {
  const empty = { quotaBytes: deps.defaultQuotaBytes, usedBytes: 0 }
  const hasRoom = ({ quotaBytes, usedBytes, erasure }: Ledger) => !erasure && quotaBytes - usedBytes >= sizeBytes
  if (hasRoom((await room.ledger()) ?? empty)) return
  // An earlier document is the answer, and a twin may hold the very bytes that are lacking.
  const item = twin && (await deps.documents.find(twin, deadline.signal))
  if (item && item.state !== 'gone') return
  const usage = (await room.cleanLedger()) ?? empty
  if (!hasRoom(usage)) throw whyRefused(usage, sizeBytes)
}
