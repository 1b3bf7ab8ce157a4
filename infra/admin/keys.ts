import {
  type ApiKeyAdministration,
  type ApiKeyChange,
  type ApiKeyGrant,
  type ApiKeyRecord,
  newApiKeyRecord,
} from '../../lib/auth/api-key-administration.ts'
import { newToken } from '../../lib/auth/api-token.ts'
import type { Permission } from '../../lib/auth/caller.ts'
import type { WorkspaceId } from '../../lib/promotion/ids.ts'
import { CommandError } from './command-error.ts'
import { describeFailure } from './describe-failure.ts'
import { time } from './output.ts'
import type { ExitCode, Session } from './session.ts'

export interface NewKey {
  workspace: WorkspaceId
  management: boolean
  permission?: Permission[]
  user?: string
  expires?: number | 'never'
}

export async function createKey(options: NewKey, session: Session): Promise<ExitCode> {
  const { workspace: workspaceId, management, permission: permissions = [], user: userId, expires } = options
  if (management && permissions.length > 0) {
    throw new CommandError('wrong_usage', 'A management key has every permission: leave --permission out.', {
      exitCode: 2,
    })
  }
  const { apiKeys } = await session.stores()
  const expiresAtMs = expires === 'never' ? undefined : expires
  const kind = management ? 'management' : 'standard'
  const { key, token } = await addKey({ workspaceId, kind, permissions, userId, expiresAtMs }, apiKeys, session.signal)
  tellToken(key, token, session)
  return 0
}

/** Stores a new key. Its token exists in what this returns, and nowhere else. */
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

/** The only line that ever shows a token. */
export function tellToken(key: ApiKeyRecord, token: string, { output }: Session): void {
  output.tell(`${token}\n\nThis is the token of ${describeKey(key)}. It is not stored and not shown again.`, {
    ...keyJson(key),
    token,
  })
}

export async function listKeys(workspaceId: WorkspaceId | undefined, session: Session): Promise<ExitCode> {
  const { apiKeys } = await session.stores()
  await session.output.list(apiKeys.list(workspaceId === undefined ? {} : { workspaceId }, session.signal), {
    columns: {
      KEY: ({ keyId }) => keyId,
      WORKSPACE: ({ workspaceId }) => workspaceId,
      KIND: ({ kind }) => kind,
      PERMISSIONS: ({ kind, permissions }) => (kind === 'management' ? 'all' : permissions.join(', ') || 'none'),
      USER: ({ userId }) => userId ?? '-',
      STATE: (key) => stateOf(key),
      EXPIRES: ({ expiresAtMs }) => (expiresAtMs === undefined ? 'never' : time(expiresAtMs)),
      CREATED: ({ createdAt }) => createdAt ?? '-',
    },
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

export async function changeKey(keyId: string, change: ApiKeyChange, session: Session): Promise<ExitCode> {
  const { apiKeys } = await session.stores()
  const { tokenHash } = await findKey(keyId, apiKeys, session.signal)
  if (!(await apiKeys.change(tokenHash, change, session.signal))) throw notThere(keyId)
  return showKey(keyId, session)
}

export async function changePermissions(keyId: string, permissions: Permission[], session: Session): Promise<ExitCode> {
  const { apiKeys } = await session.stores()
  const { kind } = await findKey(keyId, apiKeys, session.signal)
  if (kind === 'management') {
    throw new CommandError('management_key', `${keyId} is a management key: it has every permission. None was changed.`)
  }
  return changeKey(keyId, { permissions }, session)
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
  const verb = stateOf({ ...key, isEnabled: true }) === 'expired' ? 'expired' : 'expires'
  const expiry = expiresAtMs === undefined ? 'does not expire' : `${verb} ${time(expiresAtMs)}`
  const status = isEnabled ? 'enabled' : 'disabled'
  return `${keyId}: ${kind} key of workspace ${workspaceId} with ${rights}${owner}; ${status}, ${expiry}`
}

export function stateOf({ isEnabled, expiresAtMs }: ApiKeyRecord): 'enabled' | 'disabled' | 'expired' {
  if (!isEnabled) return 'disabled'
  return expiresAtMs !== undefined && expiresAtMs <= Date.now() ? 'expired' : 'enabled'
}

/** Without the hash: it is nobody's business. */
function keyJson({ keyId, workspaceId, kind, permissions, userId, isEnabled, expiresAtMs, createdAt }: ApiKeyRecord) {
  return {
    keyId,
    workspaceId,
    kind,
    permissions,
    userId,
    status: isEnabled ? 'enabled' : 'disabled',
    expiresAt: expiresAtMs === undefined ? null : new Date(expiresAtMs),
    createdAt,
  }
}

function notThere(keyId: string): CommandError {
  return new CommandError('key_not_found', `There is no key ${keyId}.`)
}
