import type { ApiKeyAdministration, ApiKeyChange, ApiKeyRecord } from '../../auth/api-key-administration.ts'
import { ownerHash } from '../../auth/api-token.ts'
import type { WorkspaceId } from '../../ids.ts'
import { type ApiKeyItem, keyOfRecord, toRecord } from './api-key-store.ts'
import { type Attributes, readOrName } from './codec.ts'
import { LINK_PARTITIONS } from './links.ts'
import { getItem, pagesOf, putItem, removeItem, scan, settingIfAsRead, type Table, updateItem } from './table.ts'

/** The others are stored as they are called: keyId as key_id. */
const NAMES: Partial<Record<string, keyof ApiKeyItem>> = { isEnabled: 'status', expiresAtMs: 'expires_at' }
const nameOf = (member: string) => NAMES[member] ?? member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const NO_LINKS = {
  FilterExpression: 'NOT begins_with(owner_hash, :links)',
  ExpressionAttributeValues: { ':links': { S: LINK_PARTITIONS } },
}

export function createApiKeyAdministration(table: Table): ApiKeyAdministration {
  const listOptions = (signal: AbortSignal) => ({ name: 'keys.list', signal })
  /** Two workspaces could share a hash, but hardly ever do. */
  async function* keysOf(workspaceId: WorkspaceId, signal: AbortSignal, start = {}) {
    for await (const items of pagesOf(table, { owner_hash: ownerHash(workspaceId) }, listOptions(signal), start))
      yield items.filter(({ workspace_id }) => workspace_id?.S === workspaceId)
  }

  return {
    async add(key, signal) {
      const isNew = { ConditionExpression: 'attribute_not_exists(key_id)' }
      const item = { ...keyOfRecord(key.keyId), ...toAttributes(key) }
      const written = await putItem(table, item, { name: 'keys.add', signal }, isNew)
      return written.applied || hasToken(key.tokenHash, written.item)
    },

    async get(keyId, signal) {
      const item = await getItem(table, keyOfRecord(keyId), { name: 'keys.get', signal })
      return item && toRecord(item)
    },

    async *list({ workspaceId, after, limit }, signal) {
      const start = { ...(after && { after: keyOfRecord(after) }), ...(limit !== undefined && { Limit: limit }) }
      const pages =
        workspaceId === undefined ? scan(table, listOptions(signal), NO_LINKS) : keysOf(workspaceId, signal, start)
      for await (const items of pages) {
        for (const item of items) yield readOrName(item, toRecord, item.key_id)
      }
    },

    async change(keyId, change, signal, shown) {
      const read = shown === undefined ? {} : toAttributes(pickShown(shown))
      const update = settingIfAsRead(read, toAttributes(change), 'attribute_exists(key_id)')
      const wanted = { ...update, ReturnValues: 'ALL_NEW' } as const
      const { applied, item } = await updateItem(table, keyOfRecord(keyId), wanted, { name: 'keys.change', signal })
      const isDone = applied || (change.tokenHash !== undefined && hasToken(change.tokenHash, item))
      return isDone && item ? toRecord(item) : undefined
    },

    async remove(keyId, signal, shown) {
      const isShown = shown && { ConditionExpression: 'token_hash = :shown', values: { ':shown': shown.tokenHash } }
      await removeItem(table, keyOfRecord(keyId), isShown ?? {}, { name: 'keys.remove', signal })
    },

    async removeAll(workspaceId, madeByMs, signal) {
      const isOld = {
        ConditionExpression: 'NOT created_at > :made_by',
        values: { ':made_by': new Date(madeByMs).toISOString() },
      }
      for await (const items of keysOf(workspaceId, signal)) {
        for (const { key_id } of items)
          await removeItem(table, keyOfRecord(`${key_id?.S}`), isOld, { name: 'keys.remove', signal })
      }
    },
  }
}

/** A write that found its own token was sent twice, and had arrived. */
const hasToken = (tokenHash: string, item: Attributes | undefined) => item?.token_hash?.S === tokenHash

function toAttributes(key: ApiKeyRecord | ApiKeyChange): Record<string, unknown> {
  const status = 'isEnabled' in key && { isEnabled: key.isEnabled ? 'enabled' : 'disabled' }
  const entries = Object.entries({ ...key, ...status })
  return Object.fromEntries(entries.map(([member, value]) => [nameOf(member), value]))
}

/** The ends of former tokens are computed from these, so they must not have changed. */
const pickShown = ({ tokenHash, isEnabled, expiresAtMs }: ApiKeyRecord) => ({ tokenHash, isEnabled, expiresAtMs })
