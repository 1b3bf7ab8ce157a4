import { beforeEach, describe, expect, it, vi } from 'vitest'
import { keyIdIn } from '../../../lib/auth/api-token.ts'
import { authenticate } from '../../../lib/auth/authenticate.ts'
import { type Caller, requirePermission } from '../../../lib/auth/caller.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { createMemoryTables } from '../../support/dynamodb/memory-tables.ts'
import { createApiKeys } from '../../support/stores/keys-and-limits.ts'

const NOW_MS = 1_800_000_000_000
const { signal } = new AbortController()

describe('authenticate', () => {
  let apiKeys: ReturnType<typeof createApiKeys>
  beforeEach(() => {
    apiKeys = createApiKeys(createMemoryTables({ now: () => NOW_MS }))
    vi.spyOn(apiKeys, 'find')
  })
  const authenticateWith = (...authorization: string[]) =>
    authenticate({ authorization, hasOtherKeyHeader: false }, { apiKeys, now: () => NOW_MS }, signal)

  const SCHEMES = ['Bearer', 'bearer', 'BEARER']
  it.each(SCHEMES)('takes the scheme as %s and knows the caller by the key alone', async (scheme) => {
    const token = apiKeys.add({ kind: 'management' })
    expect(await authenticateWith(`${scheme} ${token}`)).toEqual({
      keyId: keyIdIn(token),
      workspaceId: 'ws_1',
      kind: 'management',
      permissions: ['files:promote'],
      userId: 'user_1',
    })
  })

  const mistyped = (token: string) => token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a')
  const MISSING = 'missing_authorization'
  const MALFORMED = 'malformed_authorization'
  const INVALID = 'invalid_api_key'
  it.each<[string, (token: string) => string[], string, string]>([
    ['no header', () => [], MISSING, 'Send the API key'],
    ['an empty header', () => [''], MISSING, 'Send the API key'],
    ['a blank header', () => ['  '], MISSING, 'Send the API key'],
    ['the token without a scheme', (token) => [token], MALFORMED, 'The word Bearer is missing'],
    ['a scheme that runs into the token', (token) => [`Bearer${token}`], MALFORMED, 'The word Bearer is missing'],
    ['another scheme', (token) => [`Basic ${token}`], MALFORMED, 'The scheme Basic is not supported'],
    ['a secret with a space in it', () => ['hunter2 hunter3'], MALFORMED, 'The scheme of the Authorization header'],
    ['a scheme alone', () => ['Bearer '], MALFORMED, 'no API key after the word Bearer'],
    ['a scheme alone, in capitals', () => ['BEARER'], MALFORMED, 'no API key after the word Bearer'],
    ['a word that ends in Bearer', () => ['OldBearer'], MALFORMED, 'The word Bearer is missing'],
    ['a token and more', (token) => [`${token} and more`], MALFORMED, 'The word Bearer is missing'],
    ['a quoted token and more', (token) => [`'${token} and more'`], MALFORMED, 'The word Bearer is missing'],
    ['words before Bearer', (token) => [`Some bearer ${token}`], MALFORMED, 'of the Authorization header'],
    ['words around a token', (token) => [`the "${token}" key`], MALFORMED, 'of the Authorization header'],
    ['two tokens', (token) => [`Bearer ${token} ${token}`], MALFORMED, 'more than the API key after'],
    ['two headers', (token) => [`Bearer ${token}`, `Bearer ${token}`], MALFORMED, 'more than one Authorization'],
    ['a quoted token', (token) => [`Bearer "${token}"`], INVALID, 'in quotes or brackets'],
    ['a token in brackets', (token) => [`Bearer <${token}>`], INVALID, 'in quotes or brackets'],
    ['a variable that is not set', () => ['Bearer undefined'], INVALID, 'a placeholder'],
    ['a variable that is not replaced', () => ['Bearer $API_KEY'], INVALID, 'a placeholder'],
    ['the key of another product', () => ['Bearer sk-proj-abc'], INVALID, 'not an API key of this service'],
    ['a mistyped token', (token) => [`Bearer ${mistyped(token)}`], INVALID, 'mistyped'],
    ['a token that is cut off', (token) => [`Bearer ${token.slice(0, 20)}`], INVALID, 'incomplete'],
  ])('refuses %s without asking the store, and names the fault', async (_, headers, reason, detail) => {
    const token = apiKeys.add()
    const refusal = await authenticateWith(...headers(token)).catch((error) => error)
    expect(refusal).toMatchObject({ status: 401, reason, detail: expect.stringContaining(detail) })
    expect(refusal.detail).not.toMatch(/hunter|cfp_.+[0-9]/)
    expect(apiKeys.find).not.toHaveBeenCalled()
  })

  it('accepts a key a millisecond before it expires, and not at that very moment', async () => {
    const [valid, expired] = [1, 0].map((leftMs) => `Bearer ${apiKeys.add({ expiresAtMs: NOW_MS + leftMs })}`)
    expect(await authenticateWith(`${valid}`)).toMatchObject({ kind: 'standard' })
    await expect(authenticateWith(`${expired}`)).rejects.toMatchObject({ reason: 'invalid_api_key' })
  })
})

const OTHER_PERMISSIONS = [[[]], [['files']], [['files:*']], [['files:promote:not']], [['*']]]
it.each(OTHER_PERMISSIONS)('requirePermission refuses a standard key with %j', (permissions) => {
  const ids = { keyId: 'k', workspaceId: 'w' as WorkspaceId, userId: undefined }
  const caller: Caller = { ...ids, kind: 'standard', permissions }
  const denied = { reason: 'permission_denied', status: 403 }
  expect(() => requirePermission(caller, 'files:promote')).toThrow(expect.objectContaining(denied))
})
