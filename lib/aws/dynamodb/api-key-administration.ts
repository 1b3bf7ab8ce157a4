import type { ApiKeyAdministration, ApiKeyChange, ApiKeyRecord } from '../../auth/api-key-administration.ts'
import { ownerHash } from '../../auth/api-token.ts'
import { type ApiKeyItem, keyOfRecord, toRecord } from './api-key-store.ts'
import type { Attributes } from './codec.ts'
import { openTable, setting, type TableSettings } from './table.ts'

const NAMES = {
  keyId: 'key_id',
  tokenHash: 'token_hash',
  formerTokens: 'former_tokens',
  workspaceId: 'workspace_id',
  name: 'name',
  kind: 'kind',
  permissions: 'permissions',
  userId: 'user_id',
  isEnabled: 'status',
  expiresAtMs: 'expires_at',
  createdAt: 'created_at',
  requestsPerMinute: 'requests_per_minute',
  workspaceRequestsPerMinute: 'workspace_requests_per_minute',
} as const satisfies Record<keyof ApiKeyRecord, keyof ApiKeyItem>

export function createApiKeyAdministration(settings: TableSettings): ApiKeyAdministration {
  const table = openTable(settings)
  return {
    async add(key, signal) {
      const isNew = { ConditionExpression: 'attribute_not_exists(key_id)' }
      const item = { ...keyOfRecord(key.keyId), ...toAttributes(key) }
      const written = await table.put(item, { name: 'keys.add', signal }, isNew)
      return written.applied || hasToken(key.tokenHash, written.item)
    },

    async get(keyId, signal) {
      const item = await table.get(keyOfRecord(keyId), { name: 'keys.get', signal })
      return item && toRecord(item)
    },

    async *list({ workspaceId, after, limit }, signal) {
      const options = { name: 'keys.list', signal }
      const start = { ...(after && { after: keyOfRecord(after) }), ...(limit !== undefined && { Limit: limit }) }
      const pages =
        workspaceId === undefined
          ? table.scan(options)
          : table.pagesOf({ owner_hash: ownerHash(workspaceId) }, options, start)
      for await (const items of pages) {
        for (const record of items.map(toRecord)) {
          // Two workspaces could share a hash, but hardly ever do.
          if (workspaceId === undefined || record.workspaceId === workspaceId) yield record
        }
      }
    },

    async change(keyId, change, signal, shown) {
      const isShown = shown === undefined ? '' : ' AND token_hash = :shown'
      const { values, ...update } = setting(toAttributes(change))
      const written = await table.update(
        keyOfRecord(keyId),
        {
          ...update,
          ConditionExpression: `attribute_exists(key_id)${isShown}`,
          values: { ...values, ...(shown !== undefined && { ':shown': shown }) },
        },
        { name: 'keys.change', signal },
      )
      return written.applied || (change.tokenHash !== undefined && hasToken(change.tokenHash, written.item))
    },

    async remove(keyId, signal) {
      await table.remove(keyOfRecord(keyId), {}, { name: 'keys.remove', signal })
    },
  }
}

/** A write that found its own token was sent twice, and had arrived. */
const hasToken = (tokenHash: string, item: Attributes | undefined) => item?.token_hash?.S === tokenHash

function toAttributes(key: ApiKeyRecord | ApiKeyChange): Record<string, unknown> {
  const entries = Object.entries({ ...key, ...('isEnabled' in key && { isEnabled: toStatus(key.isEnabled) }) })
  return Object.fromEntries(entries.map(([member, value]) => [NAMES[member as keyof typeof NAMES], value]))
}

const toStatus = (isEnabled: boolean | undefined) => (isEnabled ? 'enabled' : 'disabled')
