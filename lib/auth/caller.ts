import type { WorkspaceId } from '../promotion/ids.ts'

export const PERMISSIONS = ['files:promote'] as const
export type Permission = (typeof PERMISSIONS)[number]

export type KeyKind = 'standard' | 'management'

/** Who sends a request: everything the service knows of them comes out of their API key's record. */
export interface Caller {
  keyId: string
  workspaceId: WorkspaceId
  kind: KeyKind
  permissions: readonly string[]
  /** The owner of the key. */
  userId: string | undefined
}

export interface ApiKey extends Caller {
  isEnabled: boolean
  /** ms since 1970; undefined: never. */
  expiresAtMs: number | undefined
}

export interface ApiKeyStore {
  /**
   * @param tokenHash see hashToken
   * @throws ServiceError service_unavailable when the store does not answer
   */
  find(tokenHash: string, signal: AbortSignal): Promise<ApiKey | undefined>
}
