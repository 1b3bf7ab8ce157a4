import { hashToken, newToken } from '../../lib/auth/api-token.ts'
import type { ApiKey, ApiKeyStore } from '../../lib/auth/caller.ts'
import type { WorkspaceId } from '../../lib/promotion/ids.ts'

export interface FakeApiKeyStore extends ApiKeyStore {
  /** @returns the token of the new key */
  add(key?: Partial<ApiKey>): string
}

export function createFakeApiKeyStore(): FakeApiKeyStore {
  const keys = new Map<string, ApiKey>()
  return {
    find: async (tokenHash) => keys.get(tokenHash),
    add(key = {}) {
      const token = newToken()
      keys.set(hashToken(token), {
        keyId: 'key_1',
        workspaceId: 'ws_1' as WorkspaceId,
        kind: 'standard',
        permissions: ['files:promote'],
        userId: 'user_1',
        isEnabled: true,
        expiresAtMs: undefined,
        ...key,
      })
      return token
    },
  }
}
