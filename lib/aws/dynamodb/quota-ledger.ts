import { ServiceError } from '../../errors.ts'
import type { WorkspaceId } from '../../ids.ts'
import type { QuotaLedger } from '../../ledger/ports/quota-ledger.ts'
import type { Attempt, Release } from '../../ledger/ports/reservations.ts'
import { isThrottled } from '../calls/failures.ts'
import { CLOSING, SENT_ONCE, send } from '../calls/send.ts'
import {
  COUNT_CHANGE,
  changeOf,
  checkValues,
  GIVE_BACK,
  HAS_PLACE,
  IS_MARKED,
  MARK,
  MAX_RELEASES,
  mostTakings,
  REMOVE_MARKER,
  SCHEDULE_CHECK,
  whileCrowded,
} from './ledger-update.ts'
import { openTable, type TableSettings, type Update, unlessThrottled, written } from './table.ts'
import { newWorkspaceItem, readWorkspaceItem, releaseItem, retentionOf, takingItem, usageOf } from './workspace-item.ts'

export interface QuotaLedgerSettings extends TableSettings {
  /** For workspaces without a quota of their own. */
  defaultQuotaBytes: number
}

const USAGE = 'workspace_id, quota_bytes, remaining_bytes, expire_after, expire_at_most'
/** Retried quickly: these free slots or bytes that other promotions wait for. */
const SOON = { ...CLOSING, longestPauseMs: 10 } as const

export function createQuotaLedger(settings: QuotaLedgerSettings): QuotaLedger {
  const table = openTable(settings)
  const keyOf = ({ workspaceId }: { workspaceId: WorkspaceId }) => ({ workspace_id: workspaceId })

  return {
    async take(attempt, signal, retryForMs = 0) {
      let isMade = false
      const build = (most: number) => table.updateOf(keyOf(attempt), takingOf(attempt, most))
      const most = mostTakings(attempt.workspaceId)
      const crowding = whileCrowded('takings', { ...attempt, most }, build, async (item) => {
        if (item) return item.remaining_bytes < attempt.sizeBytes ? 'give_up' : 'crowded'
        if (isMade) return 'crowded'
        isMade = true
        await createWorkspace(attempt.workspaceId, signal)
        return 'try_at_once'
      })
      const options = { name: 'ledger.take', signal, ...SENT_ONCE, retryForMs, ...crowding }
      const write = await unlessThrottled(written(send(settings.client, build(most), options)))
      if (write === 'throttled' || !write.item) return { outcome: 'crowded' }
      const item = readWorkspaceItem(write.item)
      if (write.applied) {
        return { outcome: 'taken', usage: usageOf(item), retention: retentionOf(item), countedFrom: item.version }
      }
      const hasRoom = item.remaining_bytes >= attempt.sizeBytes
      return hasRoom ? { outcome: 'crowded' } : { outcome: 'quota_exceeded', usage: usageOf(item) }
    },

    async mark(release, signal, retryForMs = 0) {
      const build = (most: number) => table.updateOf(keyOf(release), releasingOf(release, most))
      const crowding = whileCrowded('releases', { ...release, most: MAX_RELEASES }, build, async (item) =>
        item ? 'crowded' : 'give_up',
      )
      const options = { name: 'ledger.mark', signal, ...SENT_ONCE, retryForMs, ...crowding }
      const write = await unlessThrottled(written(send(settings.client, build(MAX_RELEASES), options)))
      if (write === 'throttled') return 'crowded'
      if (!write.item) throw withoutLedger(release)
      return write.applied ? { ...release, markedIn: readWorkspaceItem(write.item).version } : 'crowded'
    },

    async schedule(work, signal) {
      const change = {
        // The version changes, so that a resolver that has read the ledger before does not forget the workspace.
        UpdateExpression: `SET ${SCHEDULE_CHECK} ${COUNT_CHANGE}`,
        ConditionExpression: 'attribute_exists(workspace_id)',
        values: { ...checkValues(work), ':one': 1 },
      }
      const { applied } = await table.update(keyOf(work), change, { name: 'ledger.schedule', signal, ...SOON })
      if (!applied) throw withoutLedger(work)
    },

    async unmark(marker, signal) {
      const change = { UpdateExpression: REMOVE_MARKER, ConditionExpression: IS_MARKED }
      await table.update(keyOf(marker), changeOf(marker, change), { name: 'ledger.unmark', signal, ...SOON })
    },

    async giveBack(marker, signal) {
      const change = {
        UpdateExpression: `SET ${GIVE_BACK} ${REMOVE_MARKER}`,
        ConditionExpression: IS_MARKED,
        ReturnValues: 'ALL_NEW',
      } as const
      const count = marker.cause === 'undo' ? `${COUNT_CHANGE}, undos :one` : COUNT_CHANGE
      const options = { name: 'ledger.giveBack', signal, ...SOON }
      const { applied, item = {} } = await table.update(keyOf(marker), changeOf(marker, change, count), options)
      return applied ? usageOf(readWorkspaceItem(item)) : undefined
    },

    async usage(workspaceId, signal) {
      const read = { ConsistentRead: false, ProjectionExpression: USAGE }
      const item = await table.get(keyOf({ workspaceId }), { name: 'ledger.read', signal }, read)
      const workspace = item && readWorkspaceItem(item)
      return workspace && { ...usageOf(workspace), ...retentionOf(workspace) }
    },
  }

  async function createWorkspace(workspaceId: WorkspaceId, signal: AbortSignal): Promise<void> {
    const item = newWorkspaceItem(workspaceId, settings.defaultQuotaBytes)
    const isNew = { ConditionExpression: 'attribute_not_exists(workspace_id)' }
    try {
      await table.put(item, { name: 'ledger.createWorkspace', signal }, isNew)
    } catch (error) {
      if (!isThrottled(error)) throw error
      // The table is overloaded, not the workspace, so nobody is told to promote less.
      throw new ServiceError('service_unavailable', { cause: new Error('no workspace was made', { cause: error }) })
    }
  }
}

function takingOf(attempt: Attempt, most: number): Update {
  return changeOf(attempt, {
    UpdateExpression: `SET remaining_bytes = remaining_bytes - :size_bytes, ${MARK}, ${SCHEDULE_CHECK}`,
    ConditionExpression: `remaining_bytes >= :size_bytes AND ${HAS_PLACE}`,
    values: {
      ':size_bytes': attempt.sizeBytes,
      ':marker': takingItem(attempt),
      ':most': most,
      ...checkValues(attempt),
    },
    ReturnValues: 'ALL_NEW',
  })
}

function releasingOf(release: Release, most: number): Update {
  return changeOf(release, {
    UpdateExpression: `SET ${MARK}, ${SCHEDULE_CHECK}`,
    ConditionExpression: HAS_PLACE,
    values: { ':marker': releaseItem(release), ':most': most, ...checkValues(release) },
    ReturnValues: 'ALL_NEW',
  })
}

/** An item made now would give back bytes that it never counted. */
function withoutLedger({ workspaceId }: { workspaceId: WorkspaceId }): Error {
  return new Error(`workspace ${workspaceId} has no ledger: it needs an audit`)
}
