import { hashToken, keyIdOf } from './api-token.ts'
import type { ApiKey, Permission } from './caller.ts'

/** An API key as it is stored: everything but its token. */
export interface ApiKeyRecord extends ApiKey {
  tokenHash: string
  /** ISO 8601, UTC. */
  createdAt: string
}

/** What a new key is given. */
export type ApiKeyGrant = Pick<ApiKey, 'workspaceId' | 'kind' | 'permissions' | 'userId' | 'expiresAtMs'>

export interface ApiKeyChange {
  isEnabled?: boolean
  /** ms since 1970. */
  expiresAtMs?: number | 'never'
  /** Instead of all it had. */
  permissions?: readonly Permission[]
}

/** What platform teams do with API keys. Authentication sees each change with the next request. */
export interface ApiKeyAdministration {
  /** Applied twice, still one key; never changes one that is there. */
  add(key: ApiKeyRecord, signal: AbortSignal): Promise<void>
  /** The keys with these attributes, in no order, read page by page. */
  list(attributes: Partial<Pick<ApiKey, 'keyId' | 'workspaceId'>>, signal: AbortSignal): AsyncIterable<ApiKeyRecord>
  /** @returns false when there is no such key */
  change(tokenHash: string, change: ApiKeyChange, signal: AbortSignal): Promise<boolean>
  /** May be repeated: one that is gone is fine. */
  remove(tokenHash: string, signal: AbortSignal): Promise<void>
}

/** What is stored for a new token. */
export function newApiKeyRecord(token: string, grant: ApiKeyGrant, nowMs: number): ApiKeyRecord {
  const tokenHash = hashToken(token)
  return { ...grant, tokenHash, keyId: keyIdOf(tokenHash), isEnabled: true, createdAt: new Date(nowMs).toISOString() }
}
