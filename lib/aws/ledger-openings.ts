import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { TakeOutcome } from '../promotion/quota-ledger.ts'
import type { Release, Reservation } from '../promotion/reservations.ts'
import { type ConditionalOutcome, conditionally } from './conditional-write.ts'
import {
  checkValues,
  HAS_ROOM,
  IS_NEW_MARKER,
  IS_NOT_CROWDED,
  MARK,
  SCHEDULE_CHECK,
  updateLedger,
} from './ledger-update.ts'
import { isThrottled, OPENING } from './send.ts'
import {
  readWorkspaceItem,
  releaseItem,
  type TakingItem,
  takingItem,
  usageOf,
  type WorkspaceItem,
} from './workspace-item.ts'

/**
 * Takings in one workspace whose reservations are not open yet, each for some 12 ms. With 20 the item stays below 1 KB,
 * and each write costs one unit (docs/decisions/0002-quota-ledger.md).
 */
export const MAX_TAKINGS = 20
/** No live taking lasts this long: older ones were left by dead processes and do not count against the limit. */
const STALE_MS = 10_000
/** They stay until their leases end; this many make the item 4 KB. */
export const MAX_STALE_TAKINGS = 60
/** Counted apart: releases do not wait for takings. */
export const MAX_RELEASES = 8
/** The caller tries again, by its own rules. */
const ONE_TRY = { ...OPENING, patienceMs: 0 }

/** Each write is sent once. 'unprepared': the workspace has no item yet, or one of an older release. */
export function createLedgerOpenings({ now, ...table }: { client: DynamoDBClient; tableName: string; now(): number }) {
  return { tryTake, tryMark }

  async function tryTake(
    reservation: Reservation,
    most: number,
    signal: AbortSignal,
    onStale: (staleTakings: number) => void = () => {},
  ): Promise<TakeOutcome | 'unprepared'> {
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

    const item = write.item && readWorkspaceItem(write.item)
    if (item?.takings === undefined) return 'unprepared'
    const refused = whyRefused(item, reservation)
    // All leases have the same length, so these began earlier.
    const isStale = ({ l }: TakingItem) => l < reservation.leaseExpiresAtMs - STALE_MS
    if (refused.outcome === 'crowded') onStale(Object.values(item.takings).filter(isStale).length)
    return refused
  }

  /** Reads the reason from the item that failed the condition. */
  function whyRefused(item: WorkspaceItem, { sizeBytes }: Reservation): TakeOutcome {
    if (item.remaining_bytes >= sizeBytes) return { outcome: 'crowded' }
    const isDue = (item.check_due_at ?? Number.POSITIVE_INFINITY) <= now()
    return { outcome: 'quota_exceeded', usage: usageOf(item), isDue }
  }

  async function tryMark(release: Release, signal: AbortSignal): Promise<'marked' | 'crowded' | 'unprepared'> {
    const write = await unlessThrottled(
      updateLedger(
        table,
        release,
        { name: 'ledger.mark', signal, ...ONE_TRY },
        {
          UpdateExpression: `SET ${MARK}, ${SCHEDULE_CHECK}`,
          ConditionExpression: `${IS_NEW_MARKER} AND ${IS_NOT_CROWDED}`,
          values: { ':marker': releaseItem(release), ':most': MAX_RELEASES, ...checkValues(release) },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      ),
    )
    if (write === 'throttled') return 'crowded'
    if (write.held) return 'marked'

    // An item made now would give back bytes that it never counted.
    if (write.item === undefined) throw new Error(`workspace ${release.workspaceId} has no ledger: it needs an audit`)
    return readWorkspaceItem(write.item).releases === undefined ? 'unprepared' : 'crowded'
  }
}

async function unlessThrottled<Output>(write: Promise<Output>): Promise<ConditionalOutcome<Output> | 'throttled'> {
  try {
    return await conditionally(write)
  } catch (error) {
    if (isThrottled(error)) return 'throttled'
    throw error
  }
}
