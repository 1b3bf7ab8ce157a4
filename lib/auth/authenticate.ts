import { ServiceError } from '../errors.ts'
import { hashToken, keyIdIn } from './api-token.ts'
import {
  type AnyCaller,
  type ApiKeyStore,
  type Caller,
  ONLY_IF_LISTED,
  PERMISSIONS,
  type Permission,
  PLATFORM_PERMISSIONS,
  type PlatformPermission,
} from './caller.ts'
import { type Credentials, readBearerToken } from './read-bearer-token.ts'

/**
 * Well-formed keys that are wrong all get the same error, so that the answer does not reveal which keys exist.
 * @throws ServiceError missing_authorization, malformed_authorization, invalid_api_key, service_unavailable
 */
export async function authenticate(
  credentials: Credentials,
  deps: { apiKeys: ApiKeyStore; now(): number },
  signal: AbortSignal,
): Promise<AnyCaller> {
  const token = readBearerToken(credentials)
  const key = await deps.apiKeys.find(keyIdIn(token), hashToken(token), signal)
  if (key === undefined || !key.isEnabled || (key.expiresAtMs !== undefined && key.expiresAtMs <= deps.now())) {
    throw new ServiceError('invalid_api_key')
  }
  const { isEnabled: _, ...caller } = key
  return caller
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
  if (!hasPermission(caller, permission)) {
    throw new ServiceError('permission_denied', {
      detail: `This API key lacks the permission ${permission}.`,
      metadata: { required_permission: permission },
    })
  }
}
