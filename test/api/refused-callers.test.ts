import { describe, expect, it, vi } from 'vitest'
import { newToken } from '../../lib/auth/api-token.ts'
import type { ApiKey } from '../../lib/auth/caller.ts'
import { expectRefusal, expectUntouched } from '../support/api/promotion-answers.ts'
import { useTestApi } from '../support/api/test-api.ts'

const api = useTestApi()

describe('POST …/promote: 401', () => {
  it.each([
    [
      'no header',
      { Authorization: '' },
      'missing_authorization',
      'Missing Authentication header',
      'Bearer',
      'Send the API key in the Authorization header, as: Bearer <API_KEY>.',
    ],
    [
      'a wrong key',
      { Authorization: `Bearer ${newToken()}` },
      'invalid_api_key',
      'Invalid API key',
      'Bearer error="invalid_token"',
      'The API key is unknown, disabled or expired.',
    ],
    [
      'a key without Bearer',
      { Authorization: newToken() },
      'malformed_authorization',
      'Malformed Authorization header',
      'Bearer',
      'The word Bearer is missing before the API key. Send it in the Authorization header, as: Bearer <API_KEY>.',
    ],
    [
      'the key in another header',
      { Authorization: '', 'X-Api-Key': newToken() },
      'missing_authorization',
      'Missing Authentication header',
      'Bearer',
      'The API key came in the wrong header. Send it in the Authorization header, as: Bearer <API_KEY>.',
    ],
  ])('with %s, before anything is looked up', async (_, headers, reason, message, challenge, detail) => {
    const lookUp = vi.spyOn(api.objects, 'findContainerFile')
    const response = await api.promote({ headers, fileId: 'malformed' })
    const unknown = { headers: { 'www-authenticate': challenge }, userId: null }
    expectRefusal(response, 401, message, { reason, detail }, unknown)
    expect(lookUp).not.toHaveBeenCalled()
    expectUntouched(api)
  })

  it.each<[string, Partial<ApiKey>]>([
    ['disabled', { isEnabled: false }],
    ['expired', { expiresAtMs: 1 }],
  ])('with a key that is %s, in the words for any wrong key', async (_, key) => {
    const response = await api.promote({ headers: { Authorization: `Bearer ${api.apiKeys.add(key)}` } })
    expect(response.body).toMatchObject({ error: { metadata: { reason: 'invalid_api_key' } }, user_id: null })
    expectUntouched(api)
  })
})

it('POST …/promote: 403 without the permission, before the ids are read', async () => {
  const token = api.apiKeys.add({ permissions: ['files:read'] })
  const headers = { Authorization: `Bearer ${token}`, 'file-shape': 'x' }
  const message = 'Only management keys can perform this operation, or keys with the permission for it'
  const metadata = {
    reason: 'permission_denied',
    detail: 'This API key lacks the permission files:promote.',
    required_permission: 'files:promote',
  }
  expectRefusal(await api.promote({ headers, fileId: 'malformed' }), 403, message, metadata)
  expectUntouched(api)
})
