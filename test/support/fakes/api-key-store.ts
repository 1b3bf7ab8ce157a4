import {
  type ApiKeyAdministration,
  type ApiKeyRecord,
  newApiKeyRecord,
} from '../../../lib/auth/api-key-administration.ts'
import { newToken } from '../../../lib/auth/api-token.ts'
import type { ApiKey, ApiKeyStore } from '../../../lib/auth/caller.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'

export interface FakeApiKeyStore extends ApiKeyStore {
  /** @returns the token of the new key */
  add(key?: Partial<ApiKey>): string
  administration: ApiKeyAdministration
}

export function createFakeApiKeyStore(): FakeApiKeyStore {
  const records = new Map<string, ApiKeyRecord>()
  const administration: ApiKeyAdministration = {
    async add(key) {
      if (!records.has(key.tokenHash)) records.set(key.tokenHash, key)
    },
    async remove(tokenHash) {
      records.delete(tokenHash)
    },
    async *list({ keyId, workspaceId }) {
      for (const key of records.values()) {
        if ((keyId ?? key.keyId) === key.keyId && (workspaceId ?? key.workspaceId) === key.workspaceId) yield key
      }
    },
    async change(tokenHash, { isEnabled, expiresAtMs, permissions, replacedBy }) {
      const key = records.get(tokenHash)
      if (!key || (replacedBy && key.replacedBy)) return false
      records.set(tokenHash, {
        ...key,
        isEnabled: isEnabled ?? key.isEnabled,
        permissions: permissions ?? key.permissions,
        replacedBy: replacedBy ?? key.replacedBy,
        expiresAtMs: expiresAtMs === 'never' ? undefined : (expiresAtMs ?? key.expiresAtMs),
      })
      return true
    },
  }
  return {
    async find(tokenHash) {
      const record = records.get(tokenHash)
      if (!record) return undefined
      const { tokenHash: _, createdAt: __, ...key } = record
      return key
    },
    add(change = {}) {
      const token = newToken()
      const grant = {
        workspaceId: 'ws_1' as WorkspaceId,
        kind: 'standard' as const,
        permissions: ['files:promote'],
        userId: 'user_1',
        expiresAtMs: undefined,
      }
      const record = { ...newApiKeyRecord(token, grant, Date.now()), keyId: 'key_1', ...change }
      records.set(record.tokenHash, record)
      return token
    },
    administration,
  }
}
