import { type NewKey, renewToken, saveKey } from '../../../lib/administration/save-key.ts'
import { saveWorkspaceKey } from '../../../lib/administration/save-workspace-key.ts'
import { PERMISSIONS, type Permission } from '../../../lib/auth/caller.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { CommandError, wrongUsage } from '../command-error.ts'
import type { Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import { time } from '../terminal/output.ts'
import type { Expiry } from '../terminal/parse-values.ts'
import { describeKey, findKey, keyJson, stateOf } from './keys.ts'

interface KeyOptions {
  workspace?: WorkspaceId
  platform: boolean
  name?: string
  grace: number
  management: boolean
  permission?: Permission[]
  user?: string
  expires?: Expiry
  requestsPerMinute?: number
}

const OF_PLATFORM = { kind: 'platform', workspaceId: undefined } as const
const YEAR_MS = 365 * 86_400_000

const toExpiresAtMs = (expires: Expiry | undefined) => (expires === 'never' ? undefined : expires)

export async function createKey(session: Session, options: KeyOptions): Promise<void> {
  const { workspace: workspaceId, platform, name, management, permission: permissions = [], user: userId } = options
  const { requestsPerMinute, expires, grace: graceMs } = options
  const rights = { permissions, userId, requestsPerMinute, expiresAtMs: toExpiresAtMs(expires) }
  if (platform === (workspaceId !== undefined)) throw wrongUsage('Say --workspace or --platform.')
  if (workspaceId === undefined) {
    if (management || permissions.length > 0)
      throw wrongUsage('A platform key manages workspaces and keys: leave --management and --permission out.')
    requirePlatformEnd(rights.expiresAtMs)
    const wanted = { grant: { ...rights, ...OF_PLATFORM }, name, graceMs }
    return show(await saveKey(wanted, await session.stores(), session.signal), session)
  }
  if (management === permissions.length > 0)
    throw wrongUsage(
      `A key needs --management or a --permission: every permission, or some of ${PERMISSIONS.join(', ')}.`,
    )
  const stores = await session.stores()
  if ((await stores.ledger.read(workspaceId, session.signal)) === undefined) {
    await confirm(`There is no workspace ${workspaceId}. Make it, with the default quota?`, session)
    const settings = { quotaBytes: stores.config.defaultQuotaBytes }
    await stores.workspaces.create(workspaceId, settings, session.signal)
  }
  const kind = management ? ('management' as const) : ('standard' as const)
  const wanted = { grant: { ...rights, workspaceId, kind }, name, graceMs }
  show(await saveWorkspaceKey(wanted, stores, session.signal), session)
}

/** A platform key always ends, as it can make keys of every workspace. */
export function requirePlatformEnd(expiresAtMs = Number.POSITIVE_INFINITY): void {
  if (expiresAtMs > Date.now() + YEAR_MS + 1000) throw wrongUsage('A platform key ends within a year: say when.')
}

export async function rotateKey(session: Session, keyId: string, options: { grace: number; expires?: Expiry }) {
  const { grace: graceMs, expires } = options
  const stores = await session.stores()
  const key = await findKey(keyId, stores.apiKeys, session.signal)
  if (stateOf(key) !== 'enabled') {
    const advice = '"keys enable" and "keys expire" make it work again'
    throw new CommandError('key_not_valid', `Key ${keyId} is ${stateOf(key)}: ${advice}.`)
  }
  const change = expires === undefined ? {} : { expiresAtMs: toExpiresAtMs(expires) }
  if (key.kind === 'platform' && expires !== undefined) requirePlatformEnd(change.expiresAtMs)
  const renewed = await renewToken(key, { graceMs, change }, stores, session.signal)
  if (renewed === undefined) {
    const message = `Key ${keyId} was rotated or deleted by somebody else at this moment: nothing was done.`
    throw new CommandError('key_changed', message)
  }
  show(renewed, session)
}

/** Prints the token, alone, on standard output. This is the only time: it is stored nowhere. */
function show({ key, token }: Omit<NewKey, 'isNew'>, { output }: Session): void {
  const json = keyJson(key)
  output.print(token, { ...json, token })
  output.note(`This is the token of ${describeKey(key)}. It is not stored and not shown again.`)
  const { formerTokensEndAt } = json
  if (formerTokensEndAt) output.note(`Its former tokens work until ${time(formerTokensEndAt)}.`)
}
