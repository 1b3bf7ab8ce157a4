import { describe, expect, it } from 'vitest'
import { hashToken } from '../../lib/auth/api-token.ts'
import type { ApiKey, ApiKeyStore } from '../../lib/auth/caller.ts'
import type { WorkspaceId } from '../../lib/ids.ts'

const { signal } = new AbortController()

export interface ApiKeyStoreHarness {
  store: ApiKeyStore
  /** @returns the token */
  add(key: ApiKey): Promise<string>
}

export function describeApiKeyStore(name: string, make: () => ApiKeyStoreHarness): void {
  describe(`API key store: ${name}`, () => {
    const key: ApiKey = {
      keyId: 'key_7',
      workspaceId: 'ws_7' as WorkspaceId,
      kind: 'standard',
      permissions: ['files:promote'],
      userId: 'user_7',
      isEnabled: true,
      expiresAtMs: 1_800_000_000_000,
    }

    it.each<[string, Partial<ApiKey>]>([
      ['a standard key', {}],
      ['a management key without listed permissions', { kind: 'management', permissions: [] }],
      ['a disabled key', { isEnabled: false }],
      ['a key that never expires and belongs to nobody', { expiresAtMs: undefined, userId: undefined }],
    ])('finds %s by the hash of its token', async (_, change) => {
      const { store, add } = make()
      const token = await add({ ...key, ...change })
      expect(await store.find(hashToken(token), signal)).toEqual({ ...key, ...change })
    })

    it('finds nothing under the token itself or under an unknown hash', async () => {
      const { store, add } = make()
      const token = await add(key)
      expect(await store.find(token, signal)).toBeUndefined()
      expect(await store.find(hashToken(`${token}x`), signal)).toBeUndefined()
    })
  })
}
