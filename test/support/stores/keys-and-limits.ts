import { newApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { hashToken, keyIdIn, keyIdOf, newToken } from '../../../lib/auth/api-token.ts'
import type { ApiKey, ApiKeyGrant } from '../../../lib/auth/caller.ts'
import type { Counter } from '../../../lib/auth/rate-limit.ts'
import { createApiKeyAdministration } from '../../../lib/aws/dynamodb/api-key-administration.ts'
import { type ApiKeyItem, createApiKeyStore, keyOfRecord } from '../../../lib/aws/dynamodb/api-key-store.ts'
import { createRateLimiter } from '../../../lib/aws/dynamodb/rate-limiter.ts'
import type { RateLimitPolicy } from '../../../lib/config.ts'
import { createMemoryTables, KEYS_TABLE, RATE_LIMITS_TABLE, WORKSPACES_TABLE } from '../dynamodb/memory-tables.ts'

type Tables = Pick<ReturnType<typeof createMemoryTables>, 'client' | 'put'>

export type TestKey = Partial<Omit<ApiKey, 'keyId' | 'workspaceId'>> & { workspaceId?: string }

export function createApiKeys({ client, put }: Tables) {
  return {
    ...createApiKeyStore({ client, tableName: KEYS_TABLE }),
    /** @returns the token of the new key */
    add({ permissions = ['files:promote'], workspaceId: of = 'ws_1', ...key }: TestKey = {}): string {
      const workspaceId = key.kind === 'platform' ? undefined : of
      const token = newToken(keyIdOf(workspaceId))
      void put(KEYS_TABLE, {
        ...keyOfRecord(keyIdIn(token)),
        token_hash: hashToken(token),
        ...(workspaceId && { workspace_id: workspaceId }),
        kind: key.kind ?? 'standard',
        permissions: [...permissions],
        user_id: 'user_1',
        status: key.isEnabled === false ? 'disabled' : 'enabled',
        ...(key.expiresAtMs !== undefined && { expires_at: key.expiresAtMs }),
        ...(key.requestsPerMinute !== undefined && { requests_per_minute: key.requestsPerMinute }),
        created_at: '2026-11-21T09:38:35.556Z',
      } satisfies ApiKeyItem)
      return token
    },
  }
}

/** Makes a key as the service's administration does. @returns its token */
export async function addKey(
  table: Parameters<typeof createApiKeyAdministration>[0],
  { workspaceId, kind }: Pick<ApiKey, 'workspaceId' | 'kind'>,
  permissions: readonly string[] = [],
): Promise<string> {
  const token = newToken(keyIdOf(workspaceId))
  const grant = { workspaceId, kind, permissions, userId: undefined, expiresAtMs: undefined }
  const signal = AbortSignal.timeout(60_000)
  await createApiKeyAdministration(table).add(newApiKeyRecord(token, grant as ApiKeyGrant, Date.now()), signal)
  return token
}

/** Whose limit is the limiter's own. */
export const counter = (id = 'k'): Counter => ({ id, workspaceId: undefined, requestsPerMinute: undefined })

/** @param client of the table; omitted: one of its own */
export function createLimiter(
  policy: RateLimitPolicy,
  now: () => number,
  { client }: Pick<Tables, 'client'> = createMemoryTables({ now }),
) {
  return createRateLimiter({ client, tableName: RATE_LIMITS_TABLE, workspacesTable: WORKSPACES_TABLE, policy, now })
}
