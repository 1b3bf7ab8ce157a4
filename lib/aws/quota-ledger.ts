import { type DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../ids.ts'
import type { MarkerId, QuotaLedger, Release, Reservation, TakeOutcome } from '../promotion/ports.ts'
import { type ConditionalOutcome, conditionally, conditionHeld } from './conditional-write.ts'
import {
  BE_CHECKED,
  COUNT_BY_SET,
  COUNT_UNDONE,
  checkValues,
  EMPTY_MARKER,
  GIVE_BACK,
  HAS_ROOM,
  IS_MARKED,
  IS_NEW_MARKER,
  IS_NOT_CROWDED,
  type LedgerUpdate,
  MARK,
  REMOVE_MARKER,
  updateLedger,
} from './ledger-update.ts'
import { isThrottled, OPENING, type SendOptions, send } from './send.ts'
import {
  newWorkspaceItem,
  readWorkspaceItem,
  releaseItem,
  type TakingItem,
  takingItem,
  usageOf,
  type WorkspaceItem,
} from './workspace-item.ts'

export interface QuotaLedgerSettings {
  client: DynamoDBClient
  tableName: string
  /** Quota of a workspace that nobody gave another one. */
  defaultQuotaBytes: number
  now(): number
}

/**
 * Takings in one workspace whose reservations are not open yet, each for some 12 ms. With 20 of them the item is still
 * smaller than 1 KB, so that each write costs one unit (docs/decisions/0002-quota-ledger.md).
 */
export const MAX_TAKINGS = 20
/** Longer than a taking waits for its turn: older ones are of processes that died or were cut off, and take nobody's place. */
export const STALE_MS = 10_000
/** Until their leases are over; with so many the item has 4 KB. */
export const MAX_STALE_TAKINGS = 60
/** Releases do not wait for takings. */
export const MAX_RELEASES = 8
/** As long as the request lives, and often: until this is through, nobody else finds room. */
const CLOSING = { patienceMs: 60_000, longestPauseMs: 10 }
/** The caller tries again, by rules of its own. */
const ONE_TRY = { ...OPENING, patienceMs: 0 }

const GIVE_BACK_AND_REMOVE = { UpdateExpression: `SET ${GIVE_BACK} ${REMOVE_MARKER}` }
const GIVE_BACK_AND_KEEP = {
  UpdateExpression: `SET ${GIVE_BACK}, ${EMPTY_MARKER}`,
  count: COUNT_BY_SET,
  values: { ':no_bytes': 0 },
}

/** The counter of each workspace as single-item conditional writes on the Workspaces table (docs/reliability.md). */
export function createQuotaLedger({ client, tableName: TableName, ...settings }: QuotaLedgerSettings): QuotaLedger {
  const update = (marker: MarkerId, options: SendOptions, changes: LedgerUpdate) =>
    updateLedger({ client, tableName: TableName }, marker, options, changes)

  return {
    async take(reservation, signal) {
      let most = MAX_TAKINGS
      const onStale = (staleTakings: number) => {
        most += Math.min(staleTakings, MAX_STALE_TAKINGS)
      }
      const first = await tryTake(reservation, most, signal, onStale)
      if (first === 'unprepared') await prepare(reservation.workspaceId, signal)
      else if (most === MAX_TAKINGS) return first
      const second = await tryTake(reservation, most, signal)
      if (second === 'unprepared') throw new Error('the workspace item vanished right after it was made')
      return second
    },

    async mark(release, signal) {
      const first = await tryMark(release, signal)
      if (first !== 'unprepared') return first
      await prepare(release.workspaceId, signal)
      const second = await tryMark(release, signal)
      return second === 'unprepared' ? 'crowded' : second
    },

    async unmark(marker, signal) {
      await conditionHeld(
        update(
          marker,
          { name: 'ledger.unmark', signal, ...CLOSING },
          {
            UpdateExpression: REMOVE_MARKER,
            ConditionExpression: IS_MARKED,
          },
        ),
      )
    },

    async release(marker, signal, { keepsMarker = false } = {}) {
      const write = await conditionally(
        update(
          marker,
          { name: 'ledger.release', signal, ...CLOSING },
          {
            ...(keepsMarker ? GIVE_BACK_AND_KEEP : GIVE_BACK_AND_REMOVE),
            ...(!keepsMarker && marker.releaseId !== undefined && { count: COUNT_UNDONE }),
            ConditionExpression: IS_MARKED,
            ReturnValues: 'ALL_NEW',
          },
        ),
      )
      if (!write.held) return undefined
      const item = readWorkspaceItem(write.output.Attributes ?? {})
      return { usage: usageOf(item), countedThrough: item.releases?.[marker.releaseId ?? '']?.c }
    },

    async usage(workspaceId, signal) {
      const command = new GetItemCommand({
        TableName,
        Key: marshall({ workspace_id: workspaceId }),
        ProjectionExpression: 'workspace_id, quota_bytes, remaining_bytes',
      })
      const { Item } = await send(client, command, { name: 'ledger.read', signal })
      return Item && usageOf(readWorkspaceItem(Item))
    },
  }

  async function tryTake(
    reservation: Reservation,
    most: number,
    signal: AbortSignal,
    onStale: (staleTakings: number) => void = () => {},
  ): Promise<TakeOutcome | 'unprepared'> {
    const write = await unlessThrottled(
      update(
        reservation,
        { name: 'ledger.take', signal, ...ONE_TRY },
        {
          UpdateExpression: `SET remaining_bytes = remaining_bytes - :size_bytes, ${MARK}, ${BE_CHECKED}`,
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
    // All leases are of one length: these began earlier.
    const isStale = ({ l }: TakingItem) => l < reservation.leaseExpiresAtMs - STALE_MS
    if (refused.outcome === 'crowded') onStale(Object.values(item.takings).filter(isStale).length)
    return refused
  }

  /** Reads the reason for a refusal out of the item that was refused. */
  function whyRefused(item: WorkspaceItem, { sizeBytes }: Reservation): TakeOutcome {
    if (item.remaining_bytes >= sizeBytes) return { outcome: 'crowded' }
    const isDue = (item.check_due_at ?? Number.POSITIVE_INFINITY) <= settings.now()
    return { outcome: 'quota_exceeded', usage: usageOf(item), isDue }
  }

  async function tryMark(release: Release, signal: AbortSignal): Promise<'marked' | 'crowded' | 'unprepared'> {
    const write = await unlessThrottled(
      update(
        release,
        { name: 'ledger.mark', signal, ...ONE_TRY },
        {
          UpdateExpression: `SET ${MARK}, ${BE_CHECKED}`,
          ConditionExpression: `${IS_NEW_MARKER} AND ${IS_NOT_CROWDED}`,
          values: { ':marker': releaseItem(release), ':most': MAX_RELEASES, ...checkValues(release) },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      ),
    )
    if (write === 'throttled') return 'crowded'
    if (write.held) return 'marked'

    // Made now, it would give back what it never counted.
    if (write.item === undefined) throw new Error(`workspace ${release.workspaceId} has no ledger: it needs an audit`)
    return readWorkspaceItem(write.item).releases === undefined ? 'unprepared' : 'crowded'
  }

  async function unlessThrottled<Output>(write: Promise<Output>): Promise<ConditionalOutcome<Output> | 'throttled'> {
    try {
      return await conditionally(write)
    } catch (error) {
      if (isThrottled(error)) return 'throttled'
      throw error
    }
  }

  /** Makes the item of a workspace that has none, or adds what items of older versions lack. */
  async function prepare(workspaceId: WorkspaceId, signal: AbortSignal): Promise<void> {
    const make = new PutItemCommand({
      TableName,
      Item: marshall(newWorkspaceItem(workspaceId, settings.defaultQuotaBytes)),
      ConditionExpression: 'attribute_not_exists(workspace_id)',
    })
    if (await conditionHeld(send(client, make, { name: 'ledger.createWorkspace', signal }))) return
    const complete = new UpdateItemCommand({
      TableName,
      Key: marshall({ workspace_id: workspaceId }),
      UpdateExpression: 'SET takings = if_not_exists(takings, :none), releases = if_not_exists(releases, :none)',
      ExpressionAttributeValues: marshall({ ':none': {} }),
    })
    await send(client, complete, { name: 'ledger.completeWorkspace', signal })
  }
}
