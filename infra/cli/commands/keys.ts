import type { ApiKeyAdministration, ApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { PERMISSIONS, permissionsOf } from '../../../lib/auth/caller.ts'
import { describeKey } from '../../../lib/http/operations/key-operations.ts'
import { CommandError } from '../command-error.ts'
import { type Columns, time } from '../terminal/output.ts'

export const KEY_COLUMNS: Columns<ApiKeyRecord> = {
  KEY: ({ keyId }) => keyId,
  WORKSPACE: ({ workspaceId }) => workspaceId ?? '-',
  NAME: ({ name }) => name ?? '-',
  KIND: ({ kind }) => kind,
  PERMISSIONS: (key) => rightsIn(key, 'all') ?? 'none',
  USER: ({ userId }) => userId ?? '-',
  STATE: (key) => ({ text: stateOf(key), colour: stateOf(key) === 'enabled' ? 'green' : 'yellow' }),
  EXPIRES: ({ expiresAtMs }) => (expiresAtMs === undefined ? 'never' : time(expiresAtMs)),
  CREATED: ({ createdAt }) => createdAt || '-',
}

export function keyInWords(key: ApiKeyRecord): string {
  const { keyId, name, workspaceId, kind, permissions, userId, isEnabled, expiresAtMs, requestsPerMinute } = key
  const rights = rightsIn(key, 'every permission') ?? 'no permission'
  const called = name === undefined ? '' : ` (${name})`
  const more = permissions.length > 0 ? `, with ${rights}` : ''
  const whose = workspaceId === undefined ? ` for all workspaces${more}` : ` of workspace ${workspaceId} with ${rights}`
  const owner = userId === undefined ? '' : `, owned by ${userId}`
  const limit = requestsPerMinute === undefined ? '' : `, ${requestsPerMinute} requests a minute`
  const isExpired = stateOf({ ...key, isEnabled: true }) === 'expired'
  const expiry = expiresAtMs === undefined ? 'does not expire' : `expire${isExpired ? 'd' : 's'} ${time(expiresAtMs)}`
  const status = !isEnabled ? 'disabled, ' : isExpired ? '' : 'enabled, '
  return `${keyId}${called}: ${kind} key${whose}${limit}${owner}; ${status}${expiry}`
}

/** @param all the words for it */
function rightsIn(key: ApiKeyRecord, all: string): string | undefined {
  const has = permissionsOf(key)
  const lacks = PERMISSIONS.filter((each) => !has.includes(each))
  if (lacks.length === 0) return all
  return key.kind === 'management' ? `${all} but ${lacks.join(', ')}` : has.join(', ') || undefined
}

export function stateOf({ isEnabled, expiresAtMs }: ApiKeyRecord): 'enabled' | 'disabled' | 'expired' {
  if (!isEnabled) return 'disabled'
  return expiresAtMs !== undefined && expiresAtMs <= Date.now() ? 'expired' : 'enabled'
}

export const keyJson = (key: ApiKeyRecord) => describeKey(key, Date.now())

/** @throws CommandError when there is none */
export async function findKey(keyId: string, apiKeys: ApiKeyAdministration, signal: AbortSignal) {
  const key = await apiKeys.get(keyId, signal)
  if (key !== undefined) return key
  throw new CommandError('key_not_found', `There is no key ${keyId}: "keys list" shows those there are.`)
}
