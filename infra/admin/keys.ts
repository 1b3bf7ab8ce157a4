import {
  type ApiKeyAdministration,
  type ApiKeyChange,
  type ApiKeyGrant,
  type ApiKeyRecord,
  newApiKeyRecord,
} from '../../lib/auth/api-key-administration.ts'
import { newToken } from '../../lib/auth/api-token.ts'
import type { Permission } from '../../lib/auth/caller.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { CommandError } from './command-error.ts'
import { confirm } from './confirm.ts'
import { describeFailure } from './describe-failure.ts'
import type { ListOptions } from './list-options.ts'
import { time } from './output.ts'
import type { ExitCode, Session } from './session.ts'

export interface NewKey {
  workspace: WorkspaceId
  management: boolean
  permission?: Permission[]
  user?: string
  expires?: number | 'never'
  yes: boolean
}

export async function createKey(options: NewKey, session: Session): Promise<ExitCode> {
  const { workspace: workspaceId, management, permission: permissions = [], user: userId, expires } = options
  if (management && permissions.length > 0) {
    throw new CommandError('wrong_usage', 'A management key has every permission: leave --permission out.', {
      exitCode: 2,
    })
  }
  const { apiKeys, ledgers } = await session.stores()
  if ((await ledgers.read(workspaceId, session.signal)) === undefined) {
    const hint = 'its first promotion makes it, with the default quota'
    await confirm(`There is no workspace ${workspaceId} (${hint}). Make a key for it?`, options.yes, session)
  }
  if (!management && permissions.length === 0) {
    session.output.note('This key may do nothing: it has no --permission, and is no --management key.')
  }
  const expiresAtMs = expires === 'never' ? undefined : expires
  const kind = management ? 'management' : 'standard'
  const { key, token } = await addKey({ workspaceId, kind, permissions, userId, expiresAtMs }, apiKeys, session.signal)
  tellToken(key, token, session)
  return 0
}

/** Stores a new key. Its token exists only in the return value. */
export async function addKey(
  grant: ApiKeyGrant,
  apiKeys: ApiKeyAdministration,
  signal: AbortSignal,
): Promise<{ key: ApiKeyRecord; token: string }> {
  const token = newToken()
  const key = newApiKeyRecord(token, grant, Date.now())
  try {
    await apiKeys.add(key, signal)
  } catch (error) {
    const { reason, message } = describeFailure(error)
    const advice = `No key was given out; if ${key.keyId} is listed nevertheless, nobody knows its token.`
    throw new CommandError(reason, `${message} ${advice}`, { exitCode: 2, cause: error })
  }
  return { key, token }
}

/** The only line that shows a token; it is alone on standard output. */
export function tellToken(key: ApiKeyRecord, token: string, { output }: Session): void {
  output.tell(token, { ...keyJson(key), token })
  output.note(`This is the token of ${describeKey(key)}. It is not stored and not shown again.`)
}

export const KEY_COLUMNS = {
  KEY: ({ keyId }) => keyId,
  WORKSPACE: ({ workspaceId }) => workspaceId,
  KIND: ({ kind }) => kind,
  PERMISSIONS: ({ kind, permissions }) => (kind === 'management' ? 'all' : permissions.join(', ') || 'none'),
  USER: ({ userId }) => userId ?? '-',
  STATE: (key) => ({ text: stateOf(key), colour: stateOf(key) === 'enabled' ? 'green' : 'yellow' }) as const,
  EXPIRES: ({ expiresAtMs }) => (expiresAtMs === undefined ? 'never' : time(expiresAtMs)),
  CREATED: ({ createdAt }) => createdAt ?? '-',
} satisfies Record<string, (key: ApiKeyRecord) => string | { text: string; colour: 'green' | 'yellow' }>

export async function listKeys(
  workspaceId: WorkspaceId | undefined,
  options: ListOptions,
  session: Session,
): Promise<ExitCode> {
  const { apiKeys } = await session.stores()
  await session.output.list(apiKeys.list(workspaceId === undefined ? {} : { workspaceId }, session.signal), {
    ...options,
    columns: KEY_COLUMNS,
    toJson: keyJson,
    none: 'There are no keys.',
    noun: 'keys',
  })
  return 0
}

export async function showKey(keyId: string, session: Session): Promise<ExitCode> {
  const { apiKeys } = await session.stores()
  const key = await findKey(keyId, apiKeys, session.signal)
  session.output.tell(`${describeKey(key)}.`, keyJson(key))
  return 0
}

/** @param isConfirmed if not, asks before a change that locks somebody out */
export async function changeKey(
  keyId: string,
  change: ApiKeyChange,
  isConfirmed: boolean,
  session: Session,
): Promise<ExitCode> {
  const { apiKeys } = await session.stores()
  const key = await findKey(keyId, apiKeys, session.signal)
  const { tokenHash } = key
  if (change.isEnabled === false && stateOf(key) === 'enabled') {
    await confirm(`Refuse all requests with ${describeKey(key)}, in ${session.place}?`, isConfirmed, session)
  }
  if (!(await apiKeys.change(tokenHash, change, session.signal))) throw notThere(keyId)
  const changed = await findKey(keyId, apiKeys, session.signal)
  session.output.done(`${describeKey(changed)}.`, keyJson(changed))
  return 0
}

export async function deleteKey(keyId: string, isConfirmed: boolean, session: Session): Promise<ExitCode> {
  const { apiKeys } = await session.stores()
  const key = await findKey(keyId, apiKeys, session.signal)
  await confirm(`Delete ${describeKey(key)}, in ${session.place}?`, isConfirmed, session)
  await apiKeys.remove(key.tokenHash, session.signal)
  session.output.done(`Key ${keyId} is deleted.`, { ...keyJson(key), outcome: 'deleted' })
  return 0
}

export async function changePermissions(keyId: string, permissions: Permission[], session: Session): Promise<ExitCode> {
  const { apiKeys } = await session.stores()
  const { kind } = await findKey(keyId, apiKeys, session.signal)
  if (kind === 'management') {
    throw new CommandError('management_key', `${keyId} is a management key: it has every permission. None was changed.`)
  }
  return changeKey(keyId, { permissions }, true, session)
}

/** @throws CommandError when there is none, or more than one: a key id is only a part of the hash */
export async function findKey(
  keyId: string,
  apiKeys: ApiKeyAdministration,
  signal: AbortSignal,
): Promise<ApiKeyRecord> {
  const found: ApiKeyRecord[] = []
  for await (const key of apiKeys.list({ keyId }, signal)) found.push(key)
  const [key, ...others] = found
  if (key === undefined) throw notThere(keyId)
  if (others.length > 0) {
    const workspaces = found.map(({ workspaceId }) => workspaceId).join(', ')
    throw new CommandError(
      'ambiguous_key_id',
      `${found.length} keys have the id ${keyId} (${workspaces}): none was touched.`,
    )
  }
  return key
}

export function describeKey(key: ApiKeyRecord): string {
  const { keyId, workspaceId, kind, permissions, userId, isEnabled, expiresAtMs } = key
  const rights = kind === 'management' ? 'every permission' : permissions.join(', ') || 'no permission'
  const owner = userId === undefined ? '' : `, owned by ${userId}`
  const isExpired = stateOf({ ...key, isEnabled: true }) === 'expired'
  const expiry = expiresAtMs === undefined ? 'does not expire' : `expire${isExpired ? 'd' : 's'} ${time(expiresAtMs)}`
  const status = !isEnabled ? 'disabled, ' : isExpired ? '' : 'enabled, '
  return `${keyId}: ${kind} key of workspace ${workspaceId} with ${rights}${owner}; ${status}${expiry}`
}

export function stateOf({ isEnabled, expiresAtMs }: ApiKeyRecord): 'enabled' | 'disabled' | 'expired' {
  if (!isEnabled) return 'disabled'
  return expiresAtMs !== undefined && expiresAtMs <= Date.now() ? 'expired' : 'enabled'
}

/** Without the hash, which is nobody's business. */
function keyJson(key: ApiKeyRecord) {
  const { keyId, workspaceId, kind, permissions, userId, expiresAtMs, createdAt } = key
  return {
    keyId,
    workspaceId,
    kind,
    permissions,
    userId,
    status: stateOf(key),
    expiresAt: expiresAtMs === undefined ? null : new Date(expiresAtMs),
    createdAt,
  }
}

function notThere(keyId: string): CommandError {
  return new CommandError('key_not_found', `There is no key ${keyId}.`)
}
