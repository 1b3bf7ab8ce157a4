import type { ApiKeyRecord } from '../../lib/auth/api-key-administration.ts'
import { CommandError } from './command-error.ts'
import { describeFailure } from './describe-failure.ts'
import { addKey, findKey, stateOf, tellToken } from './keys.ts'
import { time } from './output.ts'
import type { ExitCode, Session } from './session.ts'

/**
 * The new key first, so that one always works; it is shown before the old one is touched, so that it is known whatever
 * happens.
 */
export async function rotateKey(
  keyId: string,
  { grace, expires }: { grace: number; expires?: number | 'never' },
  session: Session,
): Promise<ExitCode> {
  const { apiKeys } = await session.stores()
  const old = await findKey(keyId, apiKeys, session.signal)
  refuseUnfit(old, expires)
  const { workspaceId, kind, permissions, userId } = old
  const expiresAtMs = expires === 'never' ? undefined : expires
  const grant = { workspaceId, kind, permissions, userId, expiresAtMs }
  const { key, token } = await addKey(grant, apiKeys, session.signal)
  tellToken(key, token, session)
  // A grace period must not make an old key live longer than it would have.
  const oldExpiresAtMs = Math.min(Date.now() + grace, old.expiresAtMs ?? Number.POSITIVE_INFINITY)
  let isThere: boolean
  try {
    isThere = await apiKeys.change(old.tokenHash, { expiresAtMs: oldExpiresAtMs }, session.signal)
  } catch (error) {
    const { reason, message } = describeFailure(error)
    const advice = `The new key ${key.keyId} works; the old one, ${keyId}, may still be valid as before: end it with "keys expire ${keyId} --in ${grace === 0 ? 0 : `${Math.ceil(grace / 1000)}s`}".`
    throw new CommandError(reason, `${advice} ${message}`, { exitCode: 2, cause: error })
  }
  if (!isThere) {
    session.output.done(`The old key ${keyId} was deleted meanwhile.`, {
      keyId,
      replacedBy: key.keyId,
      expiresAt: null,
    })
    return 0
  }
  session.output.done(`The old key ${keyId} ${grace === 0 ? 'has expired' : `works until ${time(oldExpiresAtMs)}`}.`, {
    keyId,
    replacedBy: key.keyId,
    expiresAt: new Date(oldExpiresAtMs),
  })
  return 0
}

function refuseUnfit(old: ApiKeyRecord, expires: number | 'never' | undefined): void {
  const state = stateOf(old)
  if (state !== 'enabled') {
    const message = `Key ${old.keyId} is ${state}: a key that does not work is not rotated; "keys create" makes a new one.`
    throw new CommandError('key_not_valid', message)
  }
  if (old.expiresAtMs !== undefined && expires === undefined) {
    const message = `Key ${old.keyId} expires ${time(old.expiresAtMs)}: say with --expires when the new one does.`
    throw new CommandError('wrong_usage', message, { exitCode: 2 })
  }
}
