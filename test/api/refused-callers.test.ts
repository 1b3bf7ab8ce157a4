import { describe, expect, it, vi } from 'vitest'
import { newToken } from '../../lib/auth/api-token.ts'
import type { Reason } from '../../lib/errors.ts'
import { expectRefusal, expectUntouched, refusalOf } from '../support/api/promotion-answers.ts'
import { useTestApi } from '../support/api/test-api.ts'
import type { TestKey } from '../support/stores/keys-and-limits.ts'

const api = useTestApi()
const NO_BEARER = 'The word Bearer is missing before the API key.'
const ELSEWHERE = 'The API key came in the wrong header.'

describe('POST …/promote: 401', () => {
  it.each<[string, Record<string, string>, Reason, challenge: string, detail?: string]>([
    ['no header', { Authorization: '' }, 'missing_authorization', 'Bearer'],
    ['a wrong key', { Authorization: `Bearer ${newToken()}` }, 'invalid_api_key', 'Bearer error="invalid_token"'],
    ['no Bearer', { Authorization: newToken() }, 'malformed_authorization', 'Bearer', NO_BEARER],
    ['another header', { Authorization: '', 'X-Api-Key': newToken() }, 'missing_authorization', 'Bearer', ELSEWHERE],
  ])('with %s, before anything is looked up', async (_, headers, reason, challenge, detail) => {
    const lookUp = vi.spyOn(api.objects, 'findContainerFile')
    const response = await api.promote({ headers, parameters: { file_id: 'malformed' } })
    const said = detail && { detail: `${detail} Send it in the Authorization header, as: Bearer <API_KEY>.` }
    expectRefusal(response, reason, { ...said }, { headers: { 'www-authenticate': challenge }, userId: null })
    expect(lookUp).not.toHaveBeenCalled()
    expectUntouched(api)
  })

  it.each<[string, TestKey]>([
    ['disabled', { isEnabled: false }],
    ['expired', { expiresAtMs: 1 }],
  ])('with a key that is %s, in the words for any wrong key', async (_, key) => {
    const response = await api.promote({ token: api.apiKeys.add(key) })
    expect(refusalOf(response)).toEqual([401, 'invalid_api_key'])
    expectUntouched(api)
  })
})

it('POST …/promote: 403 without the permission, before the ids are read', async () => {
  const token = api.apiKeys.add({ permissions: ['files:read'] })
  const response = await api.promote({ token, headers: { 'file-shape': 'x' }, parameters: { file_id: 'malformed' } })
  const detail = 'This API key lacks the permission files:promote.'
  expectRefusal(response, 'permission_denied', { detail, required_permission: 'files:promote' })
  expectUntouched(api)
})
