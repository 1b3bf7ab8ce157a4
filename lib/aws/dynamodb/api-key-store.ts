import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { ApiKey, ApiKeyStore, KeyKind } from '../../auth/caller.ts'
import { isWorkspaceId } from '../../ids.ts'
import { openTable, type TableSettings } from './table.ts'

/** A record of the Keys table, in the form that every writer uses. */
export interface ApiKeyItem {
  /** SHA-256 of the token in hex. The token itself is not stored. */
  token_hash: string
  key_id: string
  workspace_id: string
  kind: KeyKind
  permissions: string[]
  user_id?: string
  status: 'enabled' | 'disabled'
  /** ms since 1970. */
  expires_at?: number
  /** ISO 8601, UTC. */
  created_at: string
  requests_per_minute?: number
  replaced_by?: string
}

export function createApiKeyStore(settings: TableSettings): ApiKeyStore {
  const table = openTable(settings)
  return {
    async find(tokenHash, signal) {
      // The read is consistent: a disabled key must be refused at once.
      const item = await table.get({ token_hash: tokenHash }, { name: 'keys.find', signal })
      return item && toApiKey(unmarshall(item) as Partial<ApiKeyItem>)
    },
  }
}

/** Validated, because people write records by hand, and the workspace goes into object keys. */
export function toApiKey(item: Partial<ApiKeyItem>): ApiKey {
  const { key_id: keyId, workspace_id: workspaceId, kind, permissions = [], user_id: userId, status } = item
  if (typeof keyId !== 'string' || typeof workspaceId !== 'string' || !isWorkspaceId(workspaceId)) {
    throw new Error('an API key record lacks its key_id or a valid workspace_id')
  }
  const numberOf = (name: 'expires_at' | 'requests_per_minute') => {
    const number = item[name]
    if (number === undefined || typeof number === 'number') return number
    throw new Error(`API key record ${keyId} has no number as its ${name}`)
  }
  const requestsPerMinute = numberOf('requests_per_minute')
  if (requestsPerMinute !== undefined && !(requestsPerMinute >= 1))
    throw new Error(`API key record ${keyId} has a limit below one request a minute`)
  return {
    keyId,
    workspaceId,
    // Only the exact word counts; anything else gives no rights.
    kind: kind === 'management' ? 'management' : 'standard',
    permissions: Array.isArray(permissions) ? permissions.map(String) : [],
    userId,
    isEnabled: status === 'enabled',
    expiresAtMs: numberOf('expires_at'),
    requestsPerMinute,
  }
}
