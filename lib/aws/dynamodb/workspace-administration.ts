import type { Retention } from '../../ledger/expiry.ts'
import type { WorkspaceAdministration } from '../../ledger/ports/workspace-administration.ts'
import { SENT_ONCE } from '../calls/send.ts'
import { asRead, openTable, setting, type TableSettings } from './table.ts'
import { newWorkspaceItem, readWorkspaceItem, usageOf, type WorkspaceItem } from './workspace-item.ts'

/** Only two people who set the quota at once cause a retry; promotions do not interfere. */
const MAX_TRIES = 10
// The same write adds the difference to the bytes remaining, so reservations in between are kept.
const SET_QUOTA = 'SET quota_bytes = :quota_bytes, remaining_bytes = remaining_bytes + :difference ADD version :one'
const HAS_QUOTA = 'quota_bytes = :known_quota_bytes'

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

    async setQuota(workspaceId, quotaBytes, signal, shownBytes) {
      let previousQuotaBytes: number | undefined
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const item = await read(workspaceId, signal)
        if (item === undefined) return undefined
        previousQuotaBytes ??= item.quota_bytes
        if (item.quota_bytes === quotaBytes) return { previousQuotaBytes, usage: usageOf(item) }
        if (item.quota_bytes !== (shownBytes ?? item.quota_bytes)) return 'changed'
        const changed = await trySetQuota(item, quotaBytes, signal)
        if (changed !== undefined) return { previousQuotaBytes, usage: usageOf(changed) }
      }
      throw new Error(`the quota of ${workspaceId} was changed by others under every try`)
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

  /** @returns undefined when the quota has changed since it was read */
  async function trySetQuota(
    { workspace_id, quota_bytes: known }: WorkspaceItem,
    quotaBytes: number,
    signal: AbortSignal,
  ): Promise<WorkspaceItem | undefined> {
    const change = {
      UpdateExpression: SET_QUOTA,
      ConditionExpression: HAS_QUOTA,
      values: { ':quota_bytes': quotaBytes, ':difference': quotaBytes - known, ':known_quota_bytes': known, ':one': 1 },
      ReturnValues: 'ALL_NEW',
    } as const
    try {
      const { applied, item = {} } = await table.update({ workspace_id }, change, {
        name: 'ledger.setQuota',
        signal,
        ...SENT_ONCE,
      })
      return applied ? readWorkspaceItem(item) : undefined
    } catch (error) {
      // Perhaps only its answer was lost. If not, it may still arrive, so it is not sent again.
      const item = await read(workspace_id, signal)
      if (item?.quota_bytes === quotaBytes) return item
      throw error
    }
  }
}

const attributesOf = ({ expireAfterSeconds, expireAtMostSeconds }: Retention) => {
  return { expire_after: expireAfterSeconds, expire_at_most: expireAtMostSeconds }
}
