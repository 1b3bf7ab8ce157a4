import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { ApiKeyAdministration, ApiKeyChange, ApiKeyRecord } from '../../auth/api-key-administration.ts'
import { type ApiKeyItem, toApiKey } from './api-key-store.ts'
import { openTable, setting, type TableSettings } from './table.ts'

export function createApiKeyAdministration(settings: TableSettings): ApiKeyAdministration {
  const table = openTable(settings)
  return {
    async add(key, signal) {
      const isNew = { ConditionExpression: 'attribute_not_exists(token_hash)' }
      // No two tokens have the same hash: an existing record is this very key.
      await table.put(toItem(key), { name: 'keys.add', signal }, isNew)
    },

    async *list({ keyId, workspaceId }, signal) {
      const wanted = Object.entries({ key_id: keyId, workspace_id: workspaceId }).filter(([, value]) => value)
      const filter = wanted.length > 0 && {
        FilterExpression: wanted.map(([name]) => `${name} = :${name}`).join(' AND '),
        ExpressionAttributeValues: marshall(Object.fromEntries(wanted.map(([name, value]) => [`:${name}`, value]))),
      }
      for await (const items of table.scan({ name: 'keys.list', signal }, { ...filter })) {
        for (const item of items) yield toRecord(unmarshall(item) as ApiKeyItem)
      }
    },

    async change(tokenHash, change, signal) {
      const isFirst = change.replacedBy === undefined ? '' : ' AND attribute_not_exists(replaced_by)'
      const isThere = { ConditionExpression: `attribute_exists(token_hash)${isFirst}` }
      const options = { name: 'keys.change', signal }
      return (await table.update({ token_hash: tokenHash }, { ...isThere, ...toUpdate(change) }, options)).applied
    },

    async remove(tokenHash, signal) {
      await table.remove({ token_hash: tokenHash }, {}, { name: 'keys.remove', signal })
    },
  }
}

function toItem(key: ApiKeyRecord) {
  return {
    token_hash: key.tokenHash,
    key_id: key.keyId,
    workspace_id: key.workspaceId,
    kind: key.kind,
    permissions: [...key.permissions],
    user_id: key.userId,
    status: key.isEnabled ? 'enabled' : 'disabled',
    expires_at: key.expiresAtMs,
    created_at: key.createdAt,
    replaced_by: key.replacedBy,
    requests_per_minute: key.requestsPerMinute,
  } satisfies Record<keyof ApiKeyItem, unknown>
}

function toRecord(item: ApiKeyItem): ApiKeyRecord {
  return { ...toApiKey(item), tokenHash: item.token_hash, createdAt: item.created_at, replacedBy: item.replaced_by }
}

function toUpdate({ isEnabled, expiresAtMs, permissions, replacedBy, requestsPerMinute }: ApiKeyChange) {
  return setting({
    ...(isEnabled !== undefined && { status: isEnabled ? 'enabled' : 'disabled' }),
    ...(permissions !== undefined && { permissions: [...permissions] }),
    ...(expiresAtMs !== undefined && { expires_at: expiresAtMs === 'never' ? undefined : expiresAtMs }),
    ...(replacedBy !== undefined && { replaced_by: replacedBy }),
    ...(requestsPerMinute !== undefined && {
      requests_per_minute: requestsPerMinute === 'default' ? undefined : requestsPerMinute,
    }),
  })
}
