import { ServiceError } from '../errors.ts'
import { hashToken, isWellFormedToken } from './api-token.ts'
import type { ApiKeyStore, Caller, Permission } from './caller.ts'

/** The scheme in any case, one token without spaces (RFC 6750 §2.1, RFC 9110 §11.1). */
const BEARER = /^bearer +([^\s]+)$/i

/**
 * The caller behind an Authorization header. Every way in which a key can be wrong gives the same error, so that the
 * answer does not tell which keys exist.
 *
 * @param authorization values of all Authorization headers of the request
 * @throws ServiceError missing_authorization, invalid_api_key; service_unavailable when the keys cannot be read
 */
export async function authenticate(
  authorization: readonly string[],
  deps: { apiKeys: ApiKeyStore; now(): number },
  signal: AbortSignal,
): Promise<Caller> {
  if (authorization.every((value) => value.trim() === '')) throw new ServiceError('missing_authorization')
  const token = authorization.length === 1 ? BEARER.exec(authorization[0] ?? '')?.[1] : undefined
  if (token === undefined || !isWellFormedToken(token)) throw new ServiceError('invalid_api_key')
  const key = await deps.apiKeys.find(hashToken(token), signal)
  if (key === undefined || !key.isEnabled || (key.expiresAtMs !== undefined && key.expiresAtMs <= deps.now())) {
    throw new ServiceError('invalid_api_key')
  }
  const { keyId, workspaceId, kind, permissions, userId } = key
  return { keyId, workspaceId, kind, permissions, userId }
}

/**
 * Management keys may do everything; others what their record lists.
 * @throws ServiceError permission_denied
 */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (caller.kind !== 'management' && !caller.permissions.includes(permission)) {
    throw new ServiceError('permission_denied', {
      detail: `This API key lacks the permission ${permission}.`,
      metadata: { required_permission: permission },
    })
  }
}
