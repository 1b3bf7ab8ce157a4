import {
  type ApiKeyAdministration,
  type ApiKeyGrant,
  type ApiKeyRecord,
  newApiKeyRecord,
} from '../../../lib/auth/api-key-administration.ts'
import { newToken } from '../../../lib/auth/api-token.ts'
import { PERMISSIONS, type Permission } from '../../../lib/auth/caller.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { CommandError, wrongUsage } from '../command-error.ts'
import { explainFailure } from '../explain-failure.ts'
import type { Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import { time } from '../terminal/output.ts'
import type { Expiry } from '../terminal/parse-values.ts'
import { describeKey, findKey, keyJson, stateOf } from './keys.ts'

interface NewKey {
  workspace: WorkspaceId
  management: boolean
  permission?: Permission[]
  user?: string
  expires?: Expiry
  requestsPerMinute?: number
  yes: boolean
}

const toExpiresAtMs = (expires: Expiry | undefined) => (expires === 'never' ? undefined : expires)

export async function createKey(session: Session, options: NewKey): Promise<void> {
  const { workspace: workspaceId, management, permission: permissions = [], user: userId } = options
  if (management && permissions.length > 0) {
    throw wrongUsage('A management key has every permission: leave --permission out.')
  }
  if (!management && permissions.length === 0) {
    throw wrongUsage(`A key needs --management or a --permission to be of use: ${PERMISSIONS.join(', ')}.`)
  }
  const { apiKeys, ledger } = await session.stores()
  if ((await ledger.read(workspaceId, session.signal)) === undefined) {
    const hint = 'its first promotion makes it, with the default quota'
    await confirm(`There is no workspace ${workspaceId} (${hint}). Make a key for it?`, options.yes, session)
  }
  const kind = management ? 'management' : 'standard'
  const { requestsPerMinute, expires } = options
  const grant = {
    workspaceId,
    kind,
    permissions,
    userId,
    requestsPerMinute,
    expiresAtMs: toExpiresAtMs(expires),
  } as const
  await addKey(grant, apiKeys, session)
}

/** Makes and shows the new key before it touches the old one, so that one of them always works. */
export async function rotateKey(session: Session, keyId: string, options: { grace: number; expires?: Expiry }) {
  const { grace: graceMs, expires } = options
  const { apiKeys } = await session.stores()
  const old = await findKey(keyId, apiKeys, session.signal)
  if (old.replacedBy) throw wasReplaced(old)
  if (stateOf(old) !== 'enabled') {
    const advice = 'a key that does not work is not rotated; "keys create" makes a new one'
    throw new CommandError('key_not_valid', `Key ${keyId} is ${stateOf(old)}: ${advice}.`)
  }
  if (old.expiresAtMs !== undefined && expires === undefined) {
    throw wrongUsage(`Key ${keyId} expires ${time(old.expiresAtMs)}: say with --expires when the new one does.`)
  }
  const { workspaceId, kind, permissions, userId, requestsPerMinute } = old
  const grant = { workspaceId, kind, permissions, userId, requestsPerMinute, expiresAtMs: toExpiresAtMs(expires) }
  const key = await addKey(grant, apiKeys, session)
  // A grace period must not make an old key live longer than it would have.
  const expiresAtMs = Math.min(Date.now() + graceMs, old.expiresAtMs ?? Number.POSITIVE_INFINITY)
  const change = { expiresAtMs, replacedBy: key.keyId }
  const isThere = await apiKeys.change(old.tokenHash, change, session.signal).catch((cause) => {
    const { reason, message } = explainFailure(cause)
    const finish = `"keys expire ${keyId} ${Math.ceil(graceMs / 1000)}s"`
    const advice = `The new key ${key.keyId} works; the old one, ${keyId}, may still be valid as before: end it with ${finish}.`
    throw new CommandError(reason, `${advice} ${message}`, { exitCode: 2, cause })
  })
  if (!isThere) {
    const [now] = await Array.fromAsync(apiKeys.list({ keyId }, session.signal))
    // Somebody else was faster: one new key is enough.
    if (now?.replacedBy) {
      await apiKeys.remove(key.tokenHash, session.signal)
      throw wasReplaced(now)
    }
  }
  const ended = graceMs === 0 ? 'has expired' : `works until ${time(expiresAtMs)}`
  const expiresAt = isThere ? new Date(expiresAtMs) : null
  const text = `The old key ${keyId} ${isThere ? ended : 'was deleted meanwhile'}.`
  session.output.done(text, { keyId, replacedBy: key.keyId, expiresAt })
}

/** A second new key would be one that nobody knows to end. */
function wasReplaced({ keyId, replacedBy }: ApiKeyRecord): CommandError {
  const advice = 'rotate that one, or make another with "keys create"'
  return new CommandError('key_replaced', `Key ${keyId} was replaced by ${replacedBy}: ${advice}.`)
}

/** Stores a new key and prints its token, alone, on standard output. This is the only time: it is stored nowhere. */
async function addKey(grant: ApiKeyGrant, apiKeys: ApiKeyAdministration, { output, signal }: Session) {
  const token = newToken()
  const key = newApiKeyRecord(token, grant, Date.now())
  await apiKeys.add(key, signal)
  output.print(token, { ...keyJson(key), token })
  output.note(`This is the token of ${describeKey(key)}. It is not stored and not shown again.`)
  return key
}
