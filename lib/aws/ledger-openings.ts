import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { WorkspaceId } from '../ids.ts'
import type { TakeOutcome } from '../promotion/quota-ledger.ts'
import type { MarkedRelease, Release, Reservation } from '../promotion/reservations.ts'
import { unlessThrottled } from './conditional-write.ts'
import {
  checkValues,
  HAS_ROOM,
  IS_NEW_MARKER,
  IS_NOT_CROWDED,
  MARK,
  SCHEDULE_CHECK,
  updateLedger,
} from './ledger-update.ts'
import { OPENING } from './send.ts'
import {
  readWorkspaceItem,
  releaseItem,
  type TakingItem,
  takingItem,
  usageOf,
  type WorkspaceItem,
} from './workspace-item.ts'

/**
 * Takings in one workspace whose reservations are not open yet, each for some 12 ms. With these the item stays below
 * 1 KB, and each write costs one unit (docs/decisions/0002-quota-ledger.md).
 */
export const MAX_TAKINGS = 20
const LONGEST_ID_WITH_ALL = 31
/** Of the item, for each taking: its attempt id, size and lease. */
const TAKING_BYTES = 43
/** Counted apart: releases do not wait for takings. */
export const MAX_RELEASES = 7
/** No live marker lasts this long: older ones were left by dead processes and do not count against the limits. */
const STALE_MS = 10_000
/** They stay until their leases end; this many make the item 4 KB. */
export const MAX_STALE = 60
/** The caller tries again, by its own rules. */
const ONE_TRY = { ...OPENING, patienceMs: 0 }

/** What a failed opening found in its way, if it was not refused for another reason; undefined: no workspace. */
type InTheWay = { outcome: 'in_the_way'; item: WorkspaceItem | undefined }

/** A long workspace id takes the room of some takings. */
export function mostTakings(workspaceId: WorkspaceId): number {
  return MAX_TAKINGS - Math.max(0, Math.ceil((workspaceId.length - LONGEST_ID_WITH_ALL) / TAKING_BYTES))
}

/** Each write is sent once. `in_the_way`: the item is crowded, or there is none yet. */
export function createLedgerOpenings(table: { client: DynamoDBClient; tableName: string }) {
  return {
    take: (reservation: Reservation, signal: AbortSignal) =>
      besideStale(mostTakings(reservation.workspaceId), 'takings', reservation, (most) =>
        tryTake(reservation, most, signal),
      ),
    mark: (release: Release, signal: AbortSignal) =>
      besideStale(MAX_RELEASES, 'releases', release, (most) => tryMark(release, most, signal)),
  }

  async function tryTake(reservation: Reservation, most: number, signal: AbortSignal): Promise<TakeOutcome | InTheWay> {
    const write = await unlessThrottled(
      updateLedger(
        table,
        reservation,
        { name: 'ledger.take', signal, ...ONE_TRY },
        {
          UpdateExpression: `SET remaining_bytes = remaining_bytes - :size_bytes, ${MARK}, ${SCHEDULE_CHECK}`,
          ConditionExpression: `${HAS_ROOM} AND ${IS_NEW_MARKER} AND ${IS_NOT_CROWDED}`,
          values: {
            ':size_bytes': reservation.sizeBytes,
            ':marker': takingItem(reservation),
            ':most': most,
            ...checkValues(reservation),
          },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      ),
    )
    if (write === 'throttled') return { outcome: 'crowded' }
    if (write.held) {
      const item = readWorkspaceItem(write.output.Attributes ?? {})
      return { outcome: 'taken', usage: usageOf(item), countedFrom: item.version }
    }
    // The reason is read from the item that failed the condition.
    const item = write.item && readWorkspaceItem(write.item)
    if (item && item.remaining_bytes < reservation.sizeBytes) return { outcome: 'quota_exceeded', usage: usageOf(item) }
    return { outcome: 'in_the_way', item }
  }

  async function tryMark(
    release: Release,
    most: number,
    signal: AbortSignal,
  ): Promise<{ outcome: 'marked'; release: MarkedRelease } | { outcome: 'crowded' } | InTheWay> {
    const write = await unlessThrottled(
      updateLedger(
        table,
        release,
        { name: 'ledger.mark', signal, ...ONE_TRY },
        {
          UpdateExpression: `SET ${MARK}, ${SCHEDULE_CHECK}`,
          ConditionExpression: `${IS_NEW_MARKER} AND ${IS_NOT_CROWDED}`,
          values: { ':marker': releaseItem(release), ':most': most, ...checkValues(release) },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      ),
    )
    if (write === 'throttled') return { outcome: 'crowded' }
    if (!write.held) return { outcome: 'in_the_way', item: write.item && readWorkspaceItem(write.item) }
    const { version } = readWorkspaceItem(write.output.Attributes ?? {})
    return { outcome: 'marked', release: { ...release, markedIn: version } }
  }
}

/** Tries once more if it is markers of dead processes that take up the places. */
async function besideStale<Outcome extends { outcome: string }>(
  most: number,
  kind: 'takings' | 'releases',
  { leaseExpiresAtMs }: { leaseExpiresAtMs: number },
  attempt: (most: number) => Promise<Outcome | InTheWay>,
): Promise<Outcome | InTheWay> {
  const first = await attempt(most)
  if (first.outcome !== 'in_the_way' || !('item' in first)) return first
  // All leases have the same length, so these began earlier.
  const isStale = ({ l }: TakingItem) => l < leaseExpiresAtMs - STALE_MS
  const stale = Object.values(first.item?.[kind] ?? {}).filter(isStale).length
  return stale === 0 ? first : attempt(most + Math.min(stale, MAX_STALE))
}
