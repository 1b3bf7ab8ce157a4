import type { WorkspaceId } from '../ids.ts'

/** The rights that a standard key may have; a management key may do everything. docs/security.md lists the risk of each. */
export const PERMISSIONS = ['files:promote', 'files:read', 'files:delete', 'containers:read'] as const
export type Permission = (typeof PERMISSIONS)[number]

export type KeyKind = 'standard' | 'management'

/** The sender of a request. All that the service knows about them comes from their API key's record. */
export interface Caller {
  keyId: string
  workspaceId: WorkspaceId
  kind: KeyKind
  permissions: readonly string[]
  userId: string | undefined
  /** ms since 1970; missing: never. */
  expiresAtMs?: number | undefined
  /** Missing: the service's. */
  requestsPerMinute?: number | undefined
}

export interface ApiKey extends Caller {
  isEnabled: boolean
}

export interface ApiKeyStore {
  /** @param tokenHash see hashToken. @throws ServiceError service_unavailable when the store does not answer */
  find(tokenHash: string, signal: AbortSignal): Promise<ApiKey | undefined>
}
