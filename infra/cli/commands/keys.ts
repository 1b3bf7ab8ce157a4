import type { ApiKeyAdministration, ApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { CommandError } from '../command-error.ts'
import type { Columns } from '../terminal/list-options.ts'
import { counted, time } from '../terminal/output.ts'

export const KEY_COLUMNS: Columns<ApiKeyRecord> = {
  KEY: ({ keyId }) => keyId,
  WORKSPACE: ({ workspaceId }) => workspaceId,
  KIND: ({ kind }) => kind,
  PERMISSIONS: ({ kind, permissions }) => (kind === 'management' ? 'all' : permissions.join(', ') || 'none'),
  USER: ({ userId }) => userId ?? '-',
  STATE: (key) => ({ text: stateOf(key), colour: stateOf(key) === 'enabled' ? 'green' : 'yellow' }),
  EXPIRES: ({ expiresAtMs }) => (expiresAtMs === undefined ? 'never' : time(expiresAtMs)),
  CREATED: ({ createdAt }) => createdAt ?? '-',
}

export function describeKey(key: ApiKeyRecord): string {
  const { keyId, workspaceId, kind, permissions, userId, isEnabled, expiresAtMs, requestsPerMinute } = key
  const rights = kind === 'management' ? 'every permission' : permissions.join(', ') || 'no permission'
  const owner = userId === undefined ? '' : `, owned by ${userId}`
  const limit = requestsPerMinute === undefined ? '' : `, ${requestsPerMinute} requests a minute`
  const isExpired = stateOf({ ...key, isEnabled: true }) === 'expired'
  const expiry = expiresAtMs === undefined ? 'does not expire' : `expire${isExpired ? 'd' : 's'} ${time(expiresAtMs)}`
  const status = !isEnabled ? 'disabled, ' : isExpired ? '' : 'enabled, '
  return `${keyId}: ${kind} key of workspace ${workspaceId} with ${rights}${limit}${owner}; ${status}${expiry}`
}

export function stateOf({ isEnabled, expiresAtMs }: ApiKeyRecord): 'enabled' | 'disabled' | 'expired' {
  if (!isEnabled) return 'disabled'
  return expiresAtMs !== undefined && expiresAtMs <= Date.now() ? 'expired' : 'enabled'
}

/** A key as programs get it: without the hash, which is nobody's business. */
export function keyJson(key: ApiKeyRecord) {
  const { tokenHash: _, isEnabled: _isEnabled, expiresAtMs, ...others } = key
  const expiresAt = expiresAtMs === undefined ? null : new Date(expiresAtMs)
  return { ...others, status: stateOf(key), expiresAt }
}

/** @throws CommandError when there is none, or more than one: a key id is only a part of the hash */
export async function findKey(keyId: string, apiKeys: ApiKeyAdministration, signal: AbortSignal) {
  const [key, ...others] = await Array.fromAsync(apiKeys.list({ keyId }, signal))
  if (key === undefined) throw keyNotFound(keyId)
  if (others.length === 0) return key
  const workspaces = [key, ...others].map(({ workspaceId }) => workspaceId).join(', ')
  const message = `${counted(others.length + 1, 'key')} have the id ${keyId} (${workspaces}): none was touched.`
  throw new CommandError('ambiguous_key_id', message)
}

export const keyNotFound = (keyId: string) =>
  new CommandError('key_not_found', `There is no key ${keyId}: "keys list" shows those there are.`)
