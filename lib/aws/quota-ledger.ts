import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { MarkerId, QuotaLedger } from '../promotion/quota-ledger.ts'
import { conditionally, conditionHeld } from './conditional-write.ts'
import { createLedgerOpenings, MAX_STALE_TAKINGS, MAX_TAKINGS } from './ledger-openings.ts'
import {
  COUNT_IN_SET,
  COUNT_UNDONE,
  EMPTY_MARKER,
  GIVE_BACK,
  IS_MARKED,
  type LedgerUpdate,
  REMOVE_MARKER,
  updateLedger,
} from './ledger-update.ts'
import { prepareWorkspace } from './prepare-workspace.ts'
import { type SendOptions, send } from './send.ts'
import { readWorkspaceItem, usageOf } from './workspace-item.ts'

export interface QuotaLedgerSettings {
  client: DynamoDBClient
  tableName: string
  /** For workspaces without a quota of their own. */
  defaultQuotaBytes: number
  now(): number
}

/** As long as the request lives, and often: until it succeeds, nobody else finds room. */
const CLOSING = { patienceMs: 60_000, longestPauseMs: 10 }

const GIVE_BACK_AND_REMOVE = { UpdateExpression: `SET ${GIVE_BACK} ${REMOVE_MARKER}` }
const GIVE_BACK_AND_KEEP = {
  UpdateExpression: `SET ${GIVE_BACK}, ${EMPTY_MARKER}`,
  count: COUNT_IN_SET,
  values: { ':no_bytes': 0 },
}

export function createQuotaLedger(settings: QuotaLedgerSettings): QuotaLedger {
  const { client, tableName: TableName } = settings
  const { tryTake, tryMark } = createLedgerOpenings(settings)
  const update = (marker: MarkerId, options: SendOptions, changes: LedgerUpdate) =>
    updateLedger(settings, marker, options, changes)

  return {
    async take(reservation, signal) {
      let most = MAX_TAKINGS
      const onStale = (staleTakings: number) => {
        most += Math.min(staleTakings, MAX_STALE_TAKINGS)
      }
      const first = await tryTake(reservation, most, signal, onStale)
      if (first === 'unprepared') await prepareWorkspace(reservation.workspaceId, settings, signal)
      else if (most === MAX_TAKINGS) return first
      const second = await tryTake(reservation, most, signal)
      if (second === 'unprepared') throw new Error('the workspace item vanished right after it was made')
      return second
    },

    async mark(release, signal) {
      const first = await tryMark(release, signal)
      if (first !== 'unprepared') return first
      await prepareWorkspace(release.workspaceId, settings, signal)
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
}
