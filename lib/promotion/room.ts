import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import { cleanLeftovers } from '../ledger/clean-markers.ts'
import type { StorageUsage, WorkspaceLedger } from '../ledger/ports/ledger.ts'
import type { RequestScope } from '../telemetry.ts'
import type { AttemptRequest, PromotionDependencies, PromotionTarget, Room } from './promotion.ts'

/** The bytes of an expired document are given back within this time (docs/clients.md). */
const DELETED_WITHIN_MS = 120_000
/** Room that comes later than this is not announced. */
const LONGEST_RETRY_MS = 3_600_000

export function createRoom(
  workspaceId: WorkspaceId,
  { deadline: { signal }, log }: Pick<RequestScope, 'deadline' | 'log'>,
  deps: PromotionDependencies,
): Room {
  let reading: Promise<WorkspaceLedger | undefined> | undefined
  let cleaning: Promise<WorkspaceLedger | undefined> | undefined
  let freeing: Promise<number | undefined> | undefined
  const room: Room = {
    ledger: () => (reading ??= deps.ledger.read(workspaceId, signal)),
    see(ledger) {
      reading = room.ledger().then((known) => (known && known.version > ledger.version ? known : ledger))
    },
    cleanLedger: () => (cleaning ??= clean()),
    async refusal({ quotaBytes, usedBytes }, sizeBytes) {
      const metadata = { quota_bytes: quotaBytes, used_bytes: usedBytes, file_bytes: sizeBytes }
      if (sizeBytes <= quotaBytes) freeing ??= whenBytesAreFreed()
      const freesBytesAtMs = sizeBytes <= quotaBytes ? await freeing : undefined
      if (freesBytesAtMs === undefined) return new ServiceError('storage_quota_exceeded', { metadata })
      return new ServiceError('storage_quota_exceeded', {
        metadata: { ...metadata, frees_bytes_at: new Date(freesBytesAtMs).toISOString() },
        retryAfterSeconds: Math.ceil((freesBytesAtMs - deps.now()) / 1000),
      })
    },
  }
  return room

  async function clean(): Promise<WorkspaceLedger | undefined> {
    const ledger = await room.ledger()
    if (!(await cleanLeftovers(ledger, deps, signal))) return ledger
    reading = deps.ledger.read(workspaceId, signal)
    return reading
  }

  /** When the bytes of the next document to expire are given back, if that is known. */
  async function whenBytesAreFreed(): Promise<number | undefined> {
    const byMs = deps.now() + LONGEST_RETRY_MS - DELETED_WITHIN_MS
    try {
      const next = await deps.documents.nextExpiry(workspaceId, byMs, signal)
      return next && Math.max(next.getTime(), deps.now()) + DELETED_WITHIN_MS
    } catch (error) {
      log.warn('next expiry not read, refusal answered without it', { error })
      return undefined
    }
  }
}

/**
 * Refuses before the copy what does not fit. What others take meanwhile is found out when the bytes are taken.
 * @param twin an item that another request may have made or begun; undefined: there is none
 * @throws ServiceError storage_quota_exceeded
 */
export async function requireRoom(
  twin: Pick<PromotionTarget, 'workspaceId' | 'documentId'> | undefined,
  sizeBytes: number,
  { room, deadline }: Pick<AttemptRequest, 'room' | 'deadline'>,
  deps: PromotionDependencies,
): Promise<void> {
  const empty = { quotaBytes: deps.defaultQuotaBytes, usedBytes: 0 }
  const hasRoom = ({ quotaBytes, usedBytes }: StorageUsage) => quotaBytes - usedBytes >= sizeBytes
  if (hasRoom((await room.ledger()) ?? empty)) return
  // An earlier document is the answer, and a twin may have taken the very bytes that are lacking.
  const item = twin && (await deps.documents.find(twin, deadline.signal))
  if (item && item.state !== 'gone') return
  const usage = (await room.cleanLedger()) ?? empty
  if (!hasRoom(usage)) throw await room.refusal(usage, sizeBytes)
}
