import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { ApiKeyRecord } from '../../auth/api-key-administration.ts'
import { ownerHash, ownerHashIn } from '../../auth/api-token.ts'
import type { ApiKeyStore, KeyKind } from '../../auth/caller.ts'
import { isWorkspaceId } from '../../ids.ts'
import type { Attributes } from './codec.ts'
import { getItem, type Table } from './table.ts'

/** A record of the Keys table, in the form that every writer uses. */
export interface ApiKeyItem {
  owner_hash: string
  key_id: string
  /** SHA-256 of the token in hex. The token itself is not stored. */
  token_hash: string
  former_tokens?: Record<string, number>
  /** Missing: a platform key. */
  workspace_id?: string
  name?: string
  kind: KeyKind
  permissions: string[]
  user_id?: string
  status: 'enabled' | 'disabled'
  /** ms since 1970. */
  expires_at?: number
  /** ISO 8601, UTC. */
  created_at: string
  requests_per_minute?: number
}

/** The keys of a workspace share a partition: they can be listed consistently. */
export const keyOfRecord = (keyId: string) => ({ owner_hash: ownerHashIn(keyId), key_id: keyId })

export function createApiKeyStore(table: Table): ApiKeyStore {
  return {
    async find(keyId, tokenHash, signal) {
      // The read is consistent: a disabled key must be refused at once.
      const item = await getItem(table, keyOfRecord(keyId), { name: 'keys.find', signal })
      if (item === undefined) return undefined
      const { tokenHash: current, formerTokens, createdAt: _, name: _name, ...key } = toRecord(item)
      if (tokenHash === current) return key
      const endsAtMs = formerTokens?.[tokenHash]
      return typeof endsAtMs !== 'number'
        ? undefined
        : { ...key, expiresAtMs: Math.min(endsAtMs, key.expiresAtMs ?? endsAtMs) }
    },
  }
}

/** Validated, because people write records by hand, and the workspace goes into object keys. */
export function toRecord(attributes: Attributes): ApiKeyRecord {
  const item = unmarshall(attributes) as Partial<ApiKeyItem>
  const { key_id: keyId, workspace_id: workspaceId, token_hash: tokenHash, kind, permissions = [], status } = item
  if (typeof keyId !== 'string' || typeof tokenHash !== 'string')
    throw new Error('an API key record lacks its key_id or token_hash')
  const numberOf = (name: 'expires_at' | 'requests_per_minute') => {
    const number = item[name]
    if (number !== undefined && typeof number !== 'number')
      throw new Error(`API key record ${keyId} has no number as its ${name}`)
    if (number !== undefined && name !== 'expires_at' && !(number >= 1))
      throw new Error(`API key record ${keyId} has a limit below one request a minute`)
    return number
  }
  const key = {
    keyId,
    tokenHash,
    formerTokens: item.former_tokens,
    name: item.name,
    permissions: Array.isArray(permissions) ? permissions.map(String) : [],
    userId: item.user_id,
    isEnabled: status === 'enabled',
    expiresAtMs: numberOf('expires_at'),
    requestsPerMinute: numberOf('requests_per_minute'),
    createdAt: item.created_at ?? '',
  }
  // The others of its owner are listed, and deleted, by their partition.
  if (ownerHash(workspaceId && `${workspaceId}`) !== ownerHashIn(keyId))
    throw new Error(`API key record ${keyId} is not in the partition of its owner`)
  // A platform key says so, and has no workspace: one that lost its workspace must not reach all of them.
  if (kind === 'platform' && workspaceId === undefined) return { ...key, kind }
  if (kind === 'platform' || typeof workspaceId !== 'string' || !isWorkspaceId(workspaceId))
    throw new Error(`API key record ${keyId} lacks a valid workspace_id`)
  return {
    ...key,
    workspaceId,
    // Only the exact word counts; anything else gives no rights.
    kind: kind === 'management' ? 'management' : 'standard',
  }
}
