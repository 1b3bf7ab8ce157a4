import {
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { ApiKeyAdministration, ApiKeyChange, ApiKeyRecord } from '../auth/api-key-administration.ts'
import { type ApiKeyItem, toApiKey } from './api-key-store.ts'
import { conditionHeld } from './conditional-write.ts'
import { listPages } from './list-pages.ts'
import { send } from './send.ts'

export function createApiKeyAdministration({
  client,
  tableName: TableName,
}: {
  client: DynamoDBClient
  tableName: string
}): ApiKeyAdministration {
  return {
    async add(key, signal) {
      const command = new PutItemCommand({
        TableName,
        Item: marshall(toItem(key), { removeUndefinedValues: true }),
        ConditionExpression: 'attribute_not_exists(token_hash)',
      })
      // No two tokens have the same hash: an existing record is this very key.
      await conditionHeld(send(client, command, { name: 'keys.add', signal }))
    },

    async *list({ keyId, workspaceId }, signal) {
      const wanted = Object.entries({ key_id: keyId, workspace_id: workspaceId }).filter(([, value]) => value)
      const filter = wanted.length > 0 && {
        FilterExpression: wanted.map(([name]) => `${name} = :${name}`).join(' AND '),
        ExpressionAttributeValues: marshall(Object.fromEntries(wanted.map(([name, value]) => [`:${name}`, value]))),
      }
      const scan = { TableName, ConsistentRead: true, ...filter }
      for await (const items of listPages((start) =>
        send(client, new ScanCommand({ ...scan, ...start }), { name: 'keys.list', signal }),
      )) {
        for (const item of items) yield toRecord(unmarshall(item) as ApiKeyItem)
      }
    },

    async change(tokenHash, change, signal) {
      const command = new UpdateItemCommand({
        TableName,
        Key: marshall({ token_hash: tokenHash }),
        ConditionExpression: 'attribute_exists(token_hash)',
        ...toUpdate(change),
      })
      return conditionHeld(send(client, command, { name: 'keys.change', signal }))
    },

    async remove(tokenHash, signal) {
      const command = new DeleteItemCommand({ TableName, Key: marshall({ token_hash: tokenHash }) })
      await send(client, command, { name: 'keys.remove', signal })
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
  } satisfies Record<keyof ApiKeyItem, unknown>
}

function toRecord(item: ApiKeyItem): ApiKeyRecord {
  return { ...toApiKey(item), tokenHash: item.token_hash, createdAt: item.created_at }
}

function toUpdate({ isEnabled, expiresAtMs, permissions }: ApiKeyChange) {
  const assigned = {
    ...(isEnabled !== undefined && { status: isEnabled ? 'enabled' : 'disabled' }),
    ...(permissions !== undefined && { permissions: [...permissions] }),
    ...(typeof expiresAtMs === 'number' && { expires_at: expiresAtMs }),
  }
  const names = Object.keys(assigned)
  const set = names.length > 0 ? `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}` : ''
  const remove = expiresAtMs === 'never' ? 'REMOVE expires_at' : ''
  return {
    UpdateExpression: `${set} ${remove}`.trim(),
    // "status" is a reserved word of DynamoDB.
    ...(names.length > 0 && {
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: marshall(
        Object.fromEntries(Object.entries(assigned).map(([name, value]) => [`:${name}`, value])),
      ),
    }),
  }
}
