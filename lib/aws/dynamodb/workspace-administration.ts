import type { Retention } from '../../ledger/expiry.ts'
import type { WorkspaceAdministration } from '../../ledger/ports/workspace-administration.ts'
import { SENT_ONCE } from '../calls/send.ts'
import { asRead, openTable, setting, type TableSettings } from './table.ts'
import { newWorkspaceItem, readWorkspaceItem, usageOf } from './workspace-item.ts'

// The same write adds the difference to the bytes remaining, so reservations in between are kept.
const SET_QUOTA = 'SET quota_bytes = :to_bytes, remaining_bytes = remaining_bytes + :difference ADD version :one'

export function createWorkspaceAdministration(settings: TableSettings): WorkspaceAdministration {
  const table = openTable(settings)
  const read = async (workspaceId: string, signal: AbortSignal) => {
    const item = await table.get({ workspace_id: workspaceId }, { name: 'ledger.read', signal })
    return item && readWorkspaceItem(item)
  }

  return {
    async create(workspaceId, quotaBytes, signal) {
      const item = newWorkspaceItem(workspaceId, quotaBytes)
      const isNew = { ConditionExpression: 'attribute_not_exists(workspace_id)' }
      const { applied } = await table.put(item, { name: 'ledger.createWorkspace', signal }, isNew)
      if (applied) return { isNew: true, usage: usageOf(item) }
      const existing = await read(workspaceId, signal)
      if (existing === undefined) throw new Error(`workspace ${workspaceId} was there and is gone`)
      return { isNew: false, usage: usageOf(existing) }
    },

    async setQuota(workspace_id, { shownBytes, toBytes }, signal) {
      const change = {
        UpdateExpression: SET_QUOTA,
        ConditionExpression: 'quota_bytes = :shown_bytes',
        values: { ':shown_bytes': shownBytes, ':to_bytes': toBytes, ':difference': toBytes - shownBytes, ':one': 1 },
        ReturnValues: 'ALL_NEW',
      } as const
      try {
        const { item } = await table.update({ workspace_id }, change, { name: 'ledger.setQuota', signal, ...SENT_ONCE })
        const found = item && readWorkspaceItem(item)
        return found && (found.quota_bytes === toBytes ? usageOf(found) : 'changed')
      } catch (error) {
        // Perhaps only its answer was lost. If not, it may still arrive, so it is not sent again.
        const item = await read(workspace_id, signal).catch(() => undefined)
        if (item?.quota_bytes === toBytes) return usageOf(item)
        throw error
      }
    },

    async setRetention(workspace_id, { shown, to }, signal) {
      const change = setting(attributesOf(to))
      const { condition, values } = asRead(attributesOf(shown))
      const update = {
        ...change,
        UpdateExpression: `${change.UpdateExpression} ADD version :one`,
        ConditionExpression: `attribute_exists(workspace_id) AND ${condition}`,
        values: { ...change.values, ...values, ':one': 1 },
      }
      const options = { name: 'ledger.setRetention', signal, ...SENT_ONCE }
      const { applied, item } = await table.update({ workspace_id }, update, options)
      return applied ? 'set' : item && 'changed'
    },
  }
}

const attributesOf = ({ expireAfterSeconds, expireAtMostSeconds }: Retention) => {
  return { expire_after: expireAfterSeconds, expire_at_most: expireAtMostSeconds }
}
