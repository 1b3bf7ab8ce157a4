import { ServiceError } from '../errors.ts'
import { hashToken } from './api-token.ts'
import { type ApiKeyStore, type Caller, PERMISSIONS, type Permission } from './caller.ts'
import { type Credentials, readBearerToken } from './read-bearer-token.ts'

/**
 * Well-formed keys that are wrong all get the same error, so that the answer does not reveal which keys exist.
 * @throws ServiceError missing_authorization, malformed_authorization, invalid_api_key; service_unavailable when the
 *   keys cannot be read
 */
export async function authenticate(
  credentials: Credentials,
  deps: { apiKeys: ApiKeyStore; now(): number },
  signal: AbortSignal,
): Promise<Caller> {
  const token = readBearerToken(credentials)
  const key = await deps.apiKeys.find(hashToken(token), signal)
  if (key === undefined || !key.isEnabled || (key.expiresAtMs !== undefined && key.expiresAtMs <= deps.now())) {
    throw new ServiceError('invalid_api_key')
  }
  const { isEnabled: _, ...caller } = key
  return caller
}

/** Management keys may do everything, others what their record lists. */
export function permissionsOf({ kind, permissions }: Pick<Caller, 'kind' | 'permissions'>): Permission[] {
  return PERMISSIONS.filter((each) => kind === 'management' || permissions.includes(each))
}

export function hasPermission(caller: Caller, permission: Permission): boolean {
  return permissionsOf(caller).includes(permission)
}

/** @throws ServiceError permission_denied */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (!hasPermission(caller, permission)) {
    throw new ServiceError('permission_denied', {
      detail: `This API key lacks the permission ${permission}.`,
      metadata: { required_permission: permission },
    })
  }
}
