import { hashToken, keyIdOf } from './api-token.ts'
import type { ApiKey, Permission } from './caller.ts'

/** An API key as stored. */
export interface ApiKeyRecord extends ApiKey {
  tokenHash: string
  /** ISO 8601, UTC. */
  createdAt: string
  /** Id of the key that a rotation has made in its place. */
  replacedBy?: string | undefined
}

export type ApiKeyGrant = Omit<ApiKey, 'keyId' | 'isEnabled'>

export interface ApiKeyChange {
  isEnabled?: boolean
  /** ms since 1970. */
  expiresAtMs?: number | 'never'
  /** Replaces all permissions. */
  permissions?: readonly Permission[]
  requestsPerMinute?: number | 'default'
  /** Never changed once it is set. */
  replacedBy?: string
}

/** For platform teams, who manage keys. Authentication sees each change at the next request. */
export interface ApiKeyAdministration {
  /** Idempotent; never changes an existing key. */
  add(key: ApiKeyRecord, signal: AbortSignal): Promise<void>
  /** The keys with these attributes, in no order, read page by page. */
  list(attributes: Partial<Pick<ApiKey, 'keyId' | 'workspaceId'>>, signal: AbortSignal): AsyncIterable<ApiKeyRecord>
  /** @returns false when there is no such key, or it is to be replaced and was */
  change(tokenHash: string, change: ApiKeyChange, signal: AbortSignal): Promise<boolean>
  /** Idempotent. */
  remove(tokenHash: string, signal: AbortSignal): Promise<void>
}

export function newApiKeyRecord(token: string, grant: ApiKeyGrant, nowMs: number): ApiKeyRecord {
  const tokenHash = hashToken(token)
  return { ...grant, tokenHash, keyId: keyIdOf(tokenHash), isEnabled: true, createdAt: new Date(nowMs).toISOString() }
}
