import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import { cleanLeftovers } from '../ledger/clean-ledger.ts'
import type { StorageUsage, WorkspaceLedger } from '../ledger/ports/ledger.ts'
import type { RequestScope } from '../telemetry.ts'
import type { AttemptRequest, PromotionDependencies, PromotionTarget, Room } from './promotion.ts'

type Ledger = StorageUsage & Pick<WorkspaceLedger, 'erasure'>

export function createRoom(
  workspaceId: WorkspaceId,
  { deadline: { signal } }: Pick<RequestScope, 'deadline'>,
  deps: PromotionDependencies,
): Room {
  let reading: Promise<WorkspaceLedger | undefined> | undefined
  let cleaning: Promise<WorkspaceLedger | undefined> | undefined
  const room: Room = {
    ledger: () => (reading ??= deps.ledger.read(workspaceId, signal)),
    see(ledger) {
      reading = room.ledger().then((known) => (known && known.version > ledger.version ? known : ledger))
    },
    cleanLedger: () => (cleaning ??= clean()),
  }
  return room

  async function clean(): Promise<WorkspaceLedger | undefined> {
    const ledger = await room.ledger()
    if (!(await cleanLeftovers(ledger, deps, signal))) return ledger
    reading = deps.ledger.read(workspaceId, signal)
    return reading
  }
}

/** Why a ledger takes no more. */
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
  twin: Pick<PromotionTarget, 'workspaceId' | 'documentId'> | undefined,
  sizeBytes: number,
  { room, deadline }: Pick<AttemptRequest, 'room' | 'deadline'>,
  deps: PromotionDependencies,
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
