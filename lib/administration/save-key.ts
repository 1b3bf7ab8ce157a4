import {
  type ApiKeyAdministration,
  type ApiKeyChange,
  type ApiKeyRecord,
  newApiKeyRecord,
} from '../auth/api-key-administration.ts'
import { hashToken, keyIdOf, newToken } from '../auth/api-token.ts'
import { type ApiKeyGrant, ONLY_IF_LISTED, PERMISSIONS, PLATFORM_PERMISSIONS } from '../auth/caller.ts'
import { ServiceError } from '../errors.ts'

export interface KeyDependencies {
  apiKeys: ApiKeyAdministration
  now(): number
}

export interface NewKey {
  key: ApiKeyRecord
  /** It is stored nowhere: only this answer has it. */
  token: string
  isNew: boolean
}

/** A management key has the others anyway. */
const POSSIBLE = { standard: PERMISSIONS, management: ONLY_IF_LISTED, platform: PLATFORM_PERMISSIONS }
const TRIES = 3
const YEAR_MS = 365 * 86_400_000
/** A record with so many stays below 4 KB, so authentication reads one unit. */
const MOST_FORMER_TOKENS = 20

/**
 * Makes a key. If one with this name exists, it becomes the new one, but stays disabled if it is: it gets another
 * token, and its old tokens end after the grace. So repeating a call whose answer was lost gives a token that works.
 * @throws ServiceError invalid_body, see {@link changeKey}; workspace_busy: others changed the same key at the same moment
 */
export async function saveKey(
  { grant, name, graceMs }: { grant: Required<ApiKeyGrant>; name?: string | undefined; graceMs: number },
  deps: KeyDependencies,
  signal: AbortSignal,
): Promise<NewKey> {
  const { apiKeys, now } = deps
  requirePossible(grant, now())
  const keyId = keyIdOf(grant.workspaceId, name)
  for (let tries = 0; tries < TRIES; tries++) {
    const former = name === undefined ? undefined : await apiKeys.get(keyId, signal)
    if (former !== undefined) {
      const renewed = await renewToken(former, { graceMs, change: grant }, deps, signal)
      if (renewed !== undefined) return { ...renewed, isNew: false }
    } else {
      const token = newToken(keyId)
      const key = newApiKeyRecord(token, grant, now(), name)
      if (await apiKeys.add(key, signal)) return { key, token, isNew: true }
    }
  }
  throw new ServiceError('workspace_busy')
}

/**
 * Changes what is named; undefined members are taken away. May be repeated.
 * @throws ServiceError key_not_found; invalid_body: permissions that it cannot have, or a platform key without an end
 */
export async function changeKey(
  shown: ApiKeyRecord,
  change: ApiKeyChange,
  { apiKeys, now }: KeyDependencies,
  signal: AbortSignal,
): Promise<ApiKeyRecord> {
  requirePossible({ kind: shown.kind, ...change }, now())
  const isChange = Object.keys(change).length > 0
  const changed = isChange ? await apiKeys.change(shown.keyId, change, signal) : shown
  if (changed === undefined) throw new ServiceError('key_not_found')
  return changed
}

function requirePossible({ kind = 'standard', permissions, ...change }: ApiKeyChange, nowMs: number): void {
  const refuse = (detail: string) => {
    throw new ServiceError('invalid_body', { detail })
  }
  const possible: readonly string[] = POSSIBLE[kind]
  if (kind === 'standard' && permissions?.length === 0) refuse('A standard key needs permissions.')
  const impossible = permissions?.find((each) => !possible.includes(each))
  if (impossible) refuse(`A ${kind} key takes ${possible.join(', ')}, not ${impossible}.`)
  const endsAtMs = 'expiresAtMs' in change ? (change.expiresAtMs ?? Number.POSITIVE_INFINITY) : nowMs
  // It can make keys of every workspace.
  if (kind === 'platform' && endsAtMs > nowMs + YEAR_MS) refuse('A platform key ends within a year: say when.')
}

/**
 * At each moment, one token or the other works. @returns undefined: the key is no longer as shown, or gone
 * @throws ServiceError invalid_body
 */
export async function renewToken(
  shown: ApiKeyRecord,
  { graceMs, change }: { graceMs: number; change: ApiKeyChange },
  { apiKeys, now }: KeyDependencies,
  signal: AbortSignal,
): Promise<{ key: ApiKeyRecord; token: string } | undefined> {
  requirePossible({ kind: shown.kind, ...change }, now())
  const token = newToken(shown.keyId)
  const formerTokens = formerTokensOf(shown, now() + graceMs, now())
  const key = await apiKeys.change(shown.keyId, { ...change, tokenHash: hashToken(token), formerTokens }, signal, shown)
  return key && { key, token }
}

/** A grace never makes a token work longer than it would have, nor revives one of a disabled key. */
function formerTokensOf(key: ApiKeyRecord, endsAtMs: number, nowMs: number): ApiKeyRecord['formerTokens'] {
  if (!key.isEnabled) return undefined
  const former = Object.entries(key.formerTokens ?? {}).toSorted(([, one], [, other]) => other - one)
  // The token in use comes first, so that it is never dropped for older ones.
  const live = [[key.tokenHash, key.expiresAtMs ?? Number.POSITIVE_INFINITY] as const, ...former]
    .map(([tokenHash, ms]) => [tokenHash, Math.min(ms, endsAtMs)] as const)
    .filter(([, ms]) => ms > nowMs)
  return live.length === 0 ? undefined : Object.fromEntries(live.slice(0, MOST_FORMER_TOKENS))
}

/** When the last of a key's former tokens ends, in ms since 1970; undefined: none works any more. */
export function formerTokensEndAtMs(key: ApiKeyRecord, nowMs: number): number | undefined {
  const { isEnabled, formerTokens = {}, expiresAtMs = Number.POSITIVE_INFINITY } = key
  const last = Math.min(expiresAtMs, Math.max(0, ...Object.values(formerTokens)))
  return isEnabled && last > nowMs ? last : undefined
}
