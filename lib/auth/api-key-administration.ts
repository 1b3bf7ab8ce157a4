import type { WorkspaceId } from '../ids.ts'
import { hashToken, keyIdIn } from './api-token.ts'
import type { ApiKey, ApiKeyGrant } from './caller.ts'

export type ApiKeyRecord = ApiKey & {
  /** Under it, a key can be made again, with another token. */
  name?: string | undefined
  tokenHash: string
  /** Until when former tokens work, in ms since 1970, by their hashes. */
  formerTokens?: Readonly<Record<string, number>> | undefined
  /** ISO 8601, UTC. */
  createdAt: string
}

/** Undefined members are removed; missing ones stay. */
export type ApiKeyChange = {
  [Member in Exclude<keyof ApiKeyRecord, 'keyId' | 'name' | 'createdAt'>]?: ApiKeyRecord[Member] | undefined
}

/** For platform teams, who manage keys. Authentication sees each change at the next request. */
export interface ApiKeyAdministration {
  /** @returns false when there is another key with this id. May be repeated. */
  add(key: ApiKeyRecord, signal: AbortSignal): Promise<boolean>
  get(keyId: string, signal: AbortSignal): Promise<ApiKeyRecord | undefined>
  /**
   * All keys, in no order; or those of a workspace, by id. They are read consistently, page by page. One that cannot be
   * read comes as its id and the error. @param of.limit of one call
   */
  list(
    of: { workspaceId?: WorkspaceId | undefined; after?: string | undefined; limit?: number },
    signal: AbortSignal,
  ): AsyncIterable<ApiKeyRecord | { id: string; error: unknown }>
  /**
   * May be repeated.
   * @param shown token, state and expiry must still be these, unless the token is already the new one
   * @returns the key as it is now; undefined: there is none, or it is not as shown
   */
  change(
    keyId: string,
    change: ApiKeyChange,
    signal: AbortSignal,
    shown?: ApiKeyRecord,
  ): Promise<ApiKeyRecord | undefined>
  /** Idempotent. @param shown only if its token is still this one's */
  remove(keyId: string, signal: AbortSignal, shown?: ApiKeyRecord): Promise<void>
  /** Removes the keys of a workspace, also those that cannot be read, but none that was made later. */
  removeAll(workspaceId: WorkspaceId, madeByMs: number, signal: AbortSignal): Promise<void>
}

export function newApiKeyRecord(token: string, grant: ApiKeyGrant, nowMs: number, name?: string): ApiKeyRecord {
  const identity = { keyId: keyIdIn(token), tokenHash: hashToken(token), name }
  return { ...grant, ...identity, isEnabled: true, createdAt: new Date(nowMs).toISOString() }
}
