import { beforeEach, expect, it } from 'vitest'
import {
  type ApiKeyAdministration,
  type ApiKeyGrant,
  type ApiKeyRecord,
  newApiKeyRecord,
} from '../../lib/auth/api-key-administration.ts'
import { hashToken, newToken } from '../../lib/auth/api-token.ts'
import type { ApiKeyStore } from '../../lib/auth/caller.ts'
import { createApiKeyAdministration } from '../../lib/aws/dynamodb/api-key-administration.ts'
import { createApiKeyStore } from '../../lib/aws/dynamodb/api-key-store.ts'
import { newWorkspaceId } from '../support/stores/ledger-values.ts'
import { useTables } from '../support/stores/table-stores.ts'

const { signal } = new AbortController()
const NOW = Date.parse('2026-11-21T09:38:35.556Z')

const tables = useTables()
let [administration, store] = [] as unknown as [ApiKeyAdministration, ApiKeyStore]
let grant: ApiKeyGrant
const sorted = (keys: ApiKeyRecord[]) => keys.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))
const list = async (attributes: Parameters<ApiKeyAdministration['list']>[0]) =>
  sorted(await Array.fromAsync(administration.list(attributes, signal)))
const add = async (change: Partial<ApiKeyGrant> = {}) => {
  const key = newApiKeyRecord(newToken(), { ...grant, ...change }, NOW)
  await administration.add(key, signal)
  return key
}

beforeEach(() => {
  const { dynamoDb: client, config } = tables()
  administration = createApiKeyAdministration({ client, tableName: config.keysTable })
  store = createApiKeyStore({ client, tableName: config.keysTable })
  grant = {
    workspaceId: newWorkspaceId(),
    kind: 'standard',
    permissions: ['files:promote'],
    userId: 'user_7',
    expiresAtMs: 1_800_000_000_000,
    requestsPerMinute: 60,
  }
})

it.each<[string, Partial<ApiKeyGrant>]>([
  ['of all attributes', {}],
  [
    'for management, without owner, expiry and a limit of its own',
    { kind: 'management', permissions: [], userId: undefined, expiresAtMs: undefined, requestsPerMinute: undefined },
  ],
])('adds a key %s, which authentication then finds by its token', async (_, change) => {
  const token = newToken()
  const key = newApiKeyRecord(token, { ...grant, ...change }, NOW)
  await administration.add(key, signal)
  const { tokenHash, createdAt, ...apiKey } = key
  expect(await store.find(hashToken(token), signal)).toEqual(apiKey)
  await administration.change(tokenHash, { isEnabled: false }, signal)
  expect(await store.find(tokenHash, signal)).toEqual({ ...apiKey, isEnabled: false })
  await administration.change(tokenHash, { isEnabled: true }, signal)
  expect(await list({ workspaceId: grant.workspaceId })).toEqual([key])
  expect([createdAt, tokenHash]).toEqual(['2026-11-21T09:38:35.556Z', hashToken(token)])
})

it('finds nothing under the token itself or under an unknown hash', async () => {
  const token = newToken()
  await administration.add(newApiKeyRecord(token, grant, NOW), signal)
  expect(await store.find(token, signal)).toBeUndefined()
  expect(await store.find(hashToken(`${token}x`), signal)).toBeUndefined()
})

it('changes nothing when a key is added a second time', async () => {
  const key = await add()
  await administration.change(key.tokenHash, { isEnabled: false }, signal)
  await administration.add(key, signal)
  expect(await list({ keyId: key.keyId })).toEqual([{ ...key, isEnabled: false }])
})

it('lists the keys of one workspace, of one id, and all', async () => {
  const [one, two] = [await add(), await add()]
  const other = await add({ workspaceId: newWorkspaceId() })
  expect(await list({ workspaceId: grant.workspaceId })).toEqual(sorted([one, two]))
  expect(await list({ keyId: other.keyId })).toEqual([other])
  expect(await list({ keyId: other.keyId, workspaceId: grant.workspaceId })).toEqual([])
  expect(await list({})).toEqual(expect.arrayContaining([one, two, other]))
})

it.each([
  ['makes permanent', { expiresAtMs: 'never' }, { expiresAtMs: undefined }],
  ['sets what may be done with', { permissions: ['files:read'] }, { permissions: ['files:read'] }],
  ['disables and lets expire', { isEnabled: false, expiresAtMs: NOW }, { isEnabled: false, expiresAtMs: NOW }],
] as const)('%s a key and leaves the rest of it alone', async (_, change, expected) => {
  const [key, bystander] = [await add(), await add()]
  expect(await administration.change(key.tokenHash, change, signal)).toBe(true)
  expect(await list({ keyId: key.keyId })).toEqual([{ ...key, ...expected }])
  expect(await list({ keyId: bystander.keyId })).toEqual([bystander])
})

it('removes a key, which authentication then knows no more, and leaves the others alone; twice is fine', async () => {
  const [key, bystander] = [await add(), await add()]
  for (let times = 0; times < 2; times++) await administration.remove(key.tokenHash, signal)
  expect(await store.find(key.tokenHash, signal)).toBeUndefined()
  expect(await list({ workspaceId: grant.workspaceId })).toEqual([bystander])
})

it('lets a key be replaced once', async () => {
  const { tokenHash, keyId } = await add()
  const replace = (replacedBy: string) => administration.change(tokenHash, { replacedBy, isEnabled: false }, signal)
  expect([await replace('key_1'), await replace('key_2')]).toEqual([true, false])
  expect(await list({ keyId })).toMatchObject([{ replacedBy: 'key_1' }])
})

it('makes no key by changing one that is not there', async () => {
  expect(await administration.change(hashToken(newToken()), { isEnabled: true }, signal)).toBe(false)
  expect(await list({ workspaceId: grant.workspaceId })).toEqual([])
})
