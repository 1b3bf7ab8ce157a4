import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'

/** The rights that a standard key may have. docs/security.md lists the risk of each. */
export const PERMISSIONS = [
  'files:promote',
  'files:read',
  'files:delete',
  'files:share',
  'containers:read',
  'containers:write',
] as const
/** Those that even a management key has only if its record lists them; it has all others. */
export const ONLY_IF_LISTED: readonly string[] = ['containers:write'] satisfies (typeof PERMISSIONS)[number][]
export type Permission = (typeof PERMISSIONS)[number]
/** The rights that a platform key may have, besides those that each of them has. */
export const PLATFORM_PERMISSIONS = ['workspaces:erase'] as const
export type PlatformPermission = (typeof PLATFORM_PERMISSIONS)[number]

export const isKeyName = (text: string) => /^[A-Za-z0-9_-]{1,64}$/.test(text)
export const isUserId = (text: string) => /^[\x21-\x7e]{1,128}$/.test(text)

interface Rights {
  permissions: readonly string[]
  userId: string | undefined
  /** ms since 1970; missing: never. */
  expiresAtMs?: number | undefined
  /** Missing: its workspace's, which it shares with others; for a platform key, PLATFORM_REQUESTS_PER_MINUTE. */
  requestsPerMinute?: number | undefined
}

/** A workspace's key reaches its files, a platform key all workspaces and their keys, but no file. */
export type ApiKeyGrant = Rights &
  ({ kind: 'standard' | 'management'; workspaceId: WorkspaceId } | { kind: 'platform'; workspaceId?: undefined })
export type KeyKind = ApiKeyGrant['kind']

/** The sender of a request. All that the service knows about them comes from their API key's record. */
export type AnyCaller = ApiKeyGrant & { keyId: string }
export type Caller = Extract<AnyCaller, { workspaceId: WorkspaceId }>

export type ApiKey = AnyCaller & { isEnabled: boolean }

export interface ApiKeyStore {
  /** The key with this token, current or former; with a former one, it ends no later than that token. */
  find(keyId: string, tokenHash: string, signal: AbortSignal): Promise<ApiKey | undefined>
}

type AnyPermission = Permission | PlatformPermission

/** What the key's record lists; and all of PERMISSIONS but ONLY_IF_LISTED, for a management key. */
export function permissionsOf({ kind, permissions }: Pick<AnyCaller, 'kind' | 'permissions'>): AnyPermission[] {
  const possible = kind === 'platform' ? PLATFORM_PERMISSIONS : PERMISSIONS
  const hasAnyway = (each: string) => kind === 'management' && !ONLY_IF_LISTED.includes(each)
  return possible.filter((each) => hasAnyway(each) || permissions.includes(each))
}

export function hasPermission(caller: AnyCaller, permission: AnyPermission): boolean {
  return permissionsOf(caller).includes(permission)
}

/** @throws ServiceError permission_denied for a platform key */
export function requireWorkspace(caller: AnyCaller): Caller {
  if (caller.kind !== 'platform') return caller
  const detail = 'A platform key manages workspaces and their keys. It reaches no file: use a key of the workspace.'
  throw new ServiceError('permission_denied', { detail })
}

/** @throws ServiceError permission_denied */
export function requirePermission(caller: AnyCaller, permission: AnyPermission): void {
  if (hasPermission(caller, permission)) return
  const detail = `This API key lacks the permission ${permission}.`
  throw new ServiceError('permission_denied', { detail, metadata: { required_permission: permission } })
}
