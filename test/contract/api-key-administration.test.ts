import { beforeEach, expect, it } from 'vitest'
import { type ApiKeyAdministration, type ApiKeyRecord, newApiKeyRecord } from '../../lib/auth/api-key-administration.ts'
import { hashToken, keyIdIn, keyIdOf, newToken } from '../../lib/auth/api-token.ts'
import type { ApiKeyGrant } from '../../lib/auth/caller.ts'
import { newWorkspaceId, signal } from '../support/stores/ledger-values.ts'
import { useTableStores } from '../support/stores/table-stores.ts'

const NOW = Date.parse('2026-11-21T09:38:35.556Z')

const on = useTableStores()
let grant: Extract<ApiKeyGrant, { workspaceId: string }>
const list = (of: Parameters<ApiKeyAdministration['list']>[0]) => Array.fromAsync(on.keyAdministration.list(of, signal))
const find = (token: string) => on.apiKeys.find(keyIdIn(token), hashToken(token), signal)
const add = async (change: Partial<typeof grant> = {}, name?: string) => {
  const given = { ...grant, ...change }
  const token = newToken(keyIdOf(given.workspaceId, name))
  const key = newApiKeyRecord(token, given, NOW, name)
  expect(await on.keyAdministration.add(key, signal)).toBe(true)
  return { key, token }
}
/** The part of a key that authentication reads. */
const toApiKey = ({ tokenHash: _, createdAt: _createdAt, name: _name, ...key }: ApiKeyRecord) => key

beforeEach(() => {
  grant = {
    workspaceId: on.workspaceId,
    kind: 'standard',
    permissions: ['files:promote'],
    userId: 'user_7',
    expiresAtMs: 1_800_000_000_000,
    requestsPerMinute: 60,
  }
})

it.each<[string, Partial<ApiKeyGrant>, string?]>([
  ['of all attributes', {}, 'ci'],
  [
    'for management, without name, owner, expiry and a limit of its own',
    { kind: 'management', permissions: [], userId: undefined, expiresAtMs: undefined, requestsPerMinute: undefined },
  ],
  ['for the platform', { kind: 'platform', workspaceId: undefined } as never],
])('adds a key %s, which authentication then finds by its token', async (_, change, name) => {
  const { key, token } = await add(change as Partial<typeof grant>, name)
  expect(await find(token)).toEqual(toApiKey(key))
  await on.keyAdministration.change(key.keyId, { isEnabled: false }, signal)
  expect(await find(token)).toEqual({ ...toApiKey(key), isEnabled: false })
  await on.keyAdministration.change(key.keyId, { isEnabled: true }, signal)
  expect(await on.keyAdministration.get(key.keyId, signal)).toEqual(key)
  expect(key.createdAt).toBe('2026-11-21T09:38:35.556Z')
})

it('changes nothing when a key is added a second time, or another of its id', async () => {
  const { key } = await add({}, 'ci')
  await on.keyAdministration.change(key.keyId, { isEnabled: false }, signal)
  expect(await on.keyAdministration.add(key, signal)).toBe(true)
  expect(await on.keyAdministration.add(newApiKeyRecord(newToken(key.keyId), grant, NOW, 'ci'), signal)).toBe(false)
  expect(await on.keyAdministration.get(key.keyId, signal)).toEqual({ ...key, isEnabled: false })
})

it('gives a key another token, if it has the one that was shown; the former one ends in time', async () => {
  const { key, token } = await add()
  const [renewed, other] = [newToken(key.keyId), newToken(key.keyId)]
  const formerTokens = { [hashToken(token)]: NOW + 1000 }
  const give = (next: string) =>
    on.keyAdministration.change(key.keyId, { tokenHash: hashToken(next), formerTokens }, signal, key)
  const given = { ...key, tokenHash: hashToken(renewed), formerTokens }
  // Once more: its answer was lost.
  expect([await give(renewed), await give(renewed), await give(other)]).toEqual([given, given, undefined])
  expect(await find(renewed)).toMatchObject({ keyId: key.keyId, expiresAtMs: grant.expiresAtMs })
  expect(await find(token)).toMatchObject({ keyId: key.keyId, expiresAtMs: NOW + 1000 })
  await on.keyAdministration.change(key.keyId, { expiresAtMs: NOW }, signal)
  expect(await find(token)).toMatchObject({ expiresAtMs: NOW })
  expect(await find(other)).toBeUndefined()
})

it('gives no other token to a key that was disabled since it was shown', async () => {
  const { key } = await add()
  const changed = await on.keyAdministration.change(key.keyId, { isEnabled: false }, signal)
  expect(await on.keyAdministration.change(key.keyId, { tokenHash: 'h', isEnabled: true }, signal, key)).toBeUndefined()
  expect(await on.keyAdministration.get(key.keyId, signal)).toEqual(changed)
})

it('removes a key as it was shown, and all of a workspace up to a time, also those that cannot be read', async () => {
  const [{ key }, { key: bystander }] = [await add(), await add({ workspaceId: newWorkspaceId() })]
  const renewed = await on.keyAdministration.change(key.keyId, { tokenHash: 'h' }, signal)
  await on.keyAdministration.remove(key.keyId, signal, key)
  expect(await list({ workspaceId: grant.workspaceId })).toEqual([renewed])
  await on.keyAdministration.change(key.keyId, { requestsPerMinute: 0 }, signal).catch(() => {})
  expect(await list({ workspaceId: grant.workspaceId })).toEqual([{ id: key.keyId, error: expect.any(Error) }])
  await on.keyAdministration.removeAll(grant.workspaceId, NOW - 1, signal)
  expect(await list({ workspaceId: grant.workspaceId })).toHaveLength(1)
  await on.keyAdministration.removeAll(grant.workspaceId, NOW, signal)
  expect(await list({ workspaceId: grant.workspaceId })).toEqual([])
  expect(await on.keyAdministration.get(bystander.keyId, signal)).toEqual(bystander)
})

it('makes no key by changing one that is not there', async () => {
  expect(await on.keyAdministration.change(keyIdOf(grant.workspaceId), { isEnabled: true }, signal)).toBeUndefined()
  expect(await list({ workspaceId: grant.workspaceId })).toEqual([])
})
