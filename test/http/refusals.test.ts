import { describe, expect, it, vi } from 'vitest'
import { newToken } from '../../lib/auth/api-token.ts'
import type { ApiKey } from '../../lib/auth/caller.ts'
import { REASONS, ServiceError } from '../../lib/errors.ts'
import { formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import { createAdmission } from '../../lib/promotion/admission.ts'
import type { AnyResponse } from '../support/openapi.ts'
import { expectRefusal, expectUntouched, RATE_HEADERS } from '../support/promotion-answers.ts'
import { CONTAINER, CSV, createTestApi, NOW_MS, PATH } from '../support/test-api.ts'

describe('POST …/promote: 401', () => {
  it.each([
    [
      'no header',
      { Authorization: '' },
      'missing_authorization',
      'Bearer',
      'Send the API key in the Authorization header, as: Bearer <API_KEY>.',
    ],
    [
      'a wrong key',
      { Authorization: `Bearer ${newToken()}` },
      'invalid_api_key',
      'Bearer error="invalid_token"',
      'The API key is unknown, disabled or expired.',
    ],
    [
      'a key of another product',
      { Authorization: 'Bearer x' },
      'invalid_api_key',
      'Bearer error="invalid_token"',
      'This is no API key of this service: they start with "cfp_".',
    ],
    [
      'a key without Bearer',
      { Authorization: newToken() },
      'malformed_authorization',
      'Bearer',
      'The word Bearer is missing before the API key. Send it in the Authorization header, as: Bearer <API_KEY>.',
    ],
    [
      'the key in another header',
      { Authorization: '', 'X-Api-Key': newToken() },
      'missing_authorization',
      'Bearer',
      'The API key came in an x-api-key header. Send it in the Authorization header, as: Bearer <API_KEY>.',
    ],
  ])('with %s, before anything is looked up', async (_, headers, reason, challenge, detail) => {
    const api = createTestApi()
    const lookUp = vi.spyOn(api.objects, 'findContainerFile')
    const response = await api.promote({ headers, fileId: 'malformed' })
    expectRefusal(
      response,
      401,
      'Missing Authentication header',
      { reason, detail },
      {
        headers: { 'www-authenticate': challenge },
        userId: null,
      },
    )
    expect(lookUp).not.toHaveBeenCalled()
    expectUntouched(api)
  })

  it.each<[string, Partial<ApiKey>]>([
    ['disabled', { isEnabled: false }],
    ['expired', { expiresAtMs: 1 }],
  ])('with a key that is %s, in the words for any wrong key', async (_, key) => {
    const api = createTestApi()
    const response = await api.promote({ headers: { Authorization: `Bearer ${api.apiKeys.add(key)}` } })
    expect(response.body).toMatchObject({ error: { metadata: { reason: 'invalid_api_key' } }, user_id: null })
    expectUntouched(api)
  })
})

describe('POST …/promote: 403', () => {
  it('without the permission, before the ids are read', async () => {
    const api = createTestApi()
    const token = api.apiKeys.add({ permissions: ['files:read'] })
    const response = await api.promote({
      headers: { Authorization: `Bearer ${token}`, 'file-shape': 'x' },
      fileId: 'malformed',
    })
    expectRefusal(response, 403, 'Only management keys can perform this operation', {
      reason: 'permission_denied',
      detail: 'This API key lacks the permission files:promote.',
      required_permission: 'files:promote',
    })
    expectUntouched(api)
  })

  it('when the quota would be exceeded, with its numbers', async () => {
    const api = createTestApi()
    api.putFile('a.bin', Buffer.alloc(500))
    await api.promote({ path: 'a.bin' })
    await api.promote({})
    const response = await api.promote({ path: 'a.bin' })
    expectRefusal(
      response,
      403,
      'Workspace storage quota exceeded',
      {
        reason: 'storage_quota_exceeded',
        detail: 'The file does not fit into what is left of the storage quota of the workspace.',
        quota_bytes: 1000,
        used_bytes: 508,
        file_bytes: 500,
      },
      {
        headers: {
          ...RATE_HEADERS,
          ratelimit: '"default";r=2;t=3',
          'storage-quota-bytes': '1000',
          'storage-used-bytes': '508',
        },
      },
    )
    expect(api.objects.documents.size).toBe(2)
  })
})

describe('POST …/promote: 400', () => {
  it.each([
    ['no container id', { containerId: undefined }, 'invalid_container_id', 'container_id must be'],
    ['a percent-encoded container id', { containerId: 'a%2Fb' }, 'invalid_container_id', 'container_id must be'],
    ['no file id', { fileId: undefined }, 'invalid_file_id', 'file_id must be'],
    ['a document id', { fileId: 'file_ChFrFraUZ8uFEyYkWpFau' }, 'invalid_file_id', 'id of a document'],
    ['padding', { fileId: 'cfile_YQ%3D%3D' }, 'invalid_file_id', 'The id of this path is cfile_YQ.', 'cfile_YQ'],
    ['a path out of the container', { fileId: formatFileId('../other/a.txt') }, 'invalid_file_id', '".." segment'],
    ['a path whose key is too long', { fileId: formatFileId('x'.repeat(1020)) }, 'invalid_file_id', 'too long'],
    ['an unknown shape', { headers: { 'file-shape': 'compat_c' } }, 'invalid_file_shape', 'File-Shape'],
    ['two shapes', { headers: { 'file-shape': ['native', 'compat_a'] } }, 'invalid_file_shape', 'File-Shape'],
  ])('for %s, and says so', async (_, request, reason, detail, expectedFileId?: string) => {
    const api = createTestApi()
    const lookUp = vi.spyOn(api.objects, 'findContainerFile')
    const response = await api.promote(request)
    expectRefusal(response, 400, 'Invalid request parameters', {
      reason,
      detail: expect.stringContaining(detail),
      ...(expectedFileId && { expected_file_id: expectedFileId }),
    })
    expect(lookUp).not.toHaveBeenCalled()
    expectUntouched(api)
  })
})

describe('POST …/promote: 404', () => {
  const missing = { container_id: CONTAINER, path: 'missing.txt' }

  it('for a file that the container does not have', async () => {
    const api = createTestApi()
    const response = await api.promote({ path: 'missing.txt' })
    const detail = 'The container exists, but has no file at this path.'
    expectRefusal(response, 404, 'Resource not found', { reason: 'container_file_not_found', detail, ...missing })
    expectUntouched(api)
  })

  it("for an unknown container and for another workspace's container, in the same words", async () => {
    const api = createTestApi()
    api.putFile(PATH, CSV, 'text/csv', 'ws_2', 'sess_2')
    const [foreign, unknown] = [
      await api.promote({ containerId: 'sess_2' }),
      await api.promote({ containerId: 'sess_3' }),
    ]
    const without = (response: AnyResponse) =>
      JSON.stringify(response.body).replace(response.headers['x-request-id'] ?? '', '')
    expect(without(foreign).replace('sess_2', 'sess_3')).toBe(without(unknown))
    expect(foreign.status).toBe(404)
    expect(foreign.body).toMatchObject({
      error: { metadata: { reason: 'container_not_found', container_id: 'sess_2', path: PATH } },
    })
    expectUntouched(api)
  })

  it('for a file in archive storage', async () => {
    const api = createTestApi()
    api.objects.sandbox.set(`sandboxes/ws_1/${CONTAINER}/old.bin`, {
      bytes: CSV,
      contentType: undefined,
      storageClass: 'GLACIER',
    })
    expect(await api.promote({ path: 'old.bin' })).toMatchObject({
      status: 404,
      body: { error: { metadata: { reason: 'container_file_archived' } } },
    })
    expectUntouched(api)
  })
})

describe('POST …/promote: 413', () => {
  it('for a file a byte above the largest, with both sizes, before any copy', async () => {
    const api = createTestApi()
    api.putFile('big.bin', Buffer.alloc(501))
    const copy = vi.spyOn(api.objects, 'copy')
    const response = await api.promote({ path: 'big.bin' })
    expectRefusal(response, 413, 'Request payload too large', {
      reason: 'file_too_large',
      detail: 'The file is larger than the largest file that can be promoted.',
      file_bytes: 501,
      max_file_bytes: 500,
    })
    expect(copy).not.toHaveBeenCalled()
    expectUntouched(api)
  })
})

describe('POST …/promote: 429', () => {
  it.each([
    ['a good request', {}],
    ['a malformed one', { fileId: 'malformed' }],
    ['one for a missing file', { path: 'missing' }],
    ['one without permission', { headers: {} }],
  ])('above the rate limit for %s: the limit outranks every later refusal', async (name, request) => {
    const api = createTestApi()
    for (let i = 0; i < 5; i++) await api.promote({ path: 'missing' })
    const headers =
      name === 'one without permission' ? { Authorization: `Bearer ${api.apiKeys.add({ permissions: [] })}` } : {}
    const response = await api.promote({ ...request, headers })
    expectRefusal(
      response,
      429,
      'Rate limit exceeded',
      { reason: 'rate_limited', detail: 'This API key sends requests faster than its rate limit allows.' },
      { headers: { ...RATE_HEADERS, ratelimit: '"default";r=0;t=5', 'retry-after': '1' } },
    )
    expectUntouched(api)
  })

  it('when more promotions of a workspace begin than its ledger can take: Retry-After grows with their number', async () => {
    // Hot, so that it is tried once.
    const api = createTestApi({ admission: createAdmission({ now: () => NOW_MS, random: () => 0.95 }) })
    vi.spyOn(api.ledger, 'take').mockResolvedValue({ outcome: 'crowded' })
    for (let i = 0; i < 9; i++) api.dependencies.admission.note('ws_1' as WorkspaceId, false)
    const response = await api.promote({})
    const { detail } = REASONS.too_many_promotions
    expectRefusal(
      response,
      429,
      'Rate limit exceeded',
      { reason: 'too_many_promotions', detail },
      {
        headers: { ...RATE_HEADERS, 'retry-after': '12' },
      },
    )
    expectUntouched(api)
  })
})

describe('POST …/promote: 500 and 503', () => {
  it('lets the request pass when the rate limiter cannot be asked, counts that, and sends no rate headers', async () => {
    const rateLimiter = {
      policy: { requestsPerMinute: 1, burst: 1 },
      take: () => Promise.reject(new ServiceError('service_unavailable')),
    }
    const api = createTestApi({ rateLimiter })
    const { status, headers } = await api.promote({})
    expect(status).toBe(200)
    expect(headers).not.toHaveProperty('ratelimit')
    expect(api.published).toContainEqual({ RateLimiterUnavailable: 1 })
  })

  it('lets the request pass within seconds when the rate limiter hangs', async () => {
    const take = (_: string, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const api = createTestApi({ rateLimiter: { policy: { requestsPerMinute: 1, burst: 1 }, take } })
    expect((await api.promote({})).status).toBe(200)
    expect(api.published).toContainEqual({ RateLimiterUnavailable: 1 })
  })

  it('is 503 when the keys cannot be read: nobody is let in unknown', async () => {
    const apiKeys = { find: () => Promise.reject(new ServiceError('service_unavailable')) }
    const api = createTestApi({ apiKeys })
    expect(await api.promote({})).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { user_id: null },
    })
    expectUntouched(api)
  })

  it('is 503 when the quota cannot be read: nothing is kept uncounted', async () => {
    const api = createTestApi()
    vi.spyOn(api.ledger, 'take').mockRejectedValue(new ServiceError('service_unavailable'))
    expect(await api.promote({})).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expectUntouched(api)
  })

  it('is 503 when the time of the request is over, with everything undone', async () => {
    const api = createTestApi()
    const copied = api.objects.copy
    vi.spyOn(api.objects, 'copy').mockImplementation(async (request, signal) => {
      await copied(request, signal)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      throw new ServiceError('promotion_timed_out')
    })
    const response = await api.promote({ remainingMs: 2700 })
    expect(response).toMatchObject({ status: 503, body: { error: { metadata: { reason: 'promotion_timed_out' } } } })
    expectUntouched(api)
  })

  it('is a plain 500 for what nobody foresaw, the cause in the log only', async () => {
    const api = createTestApi()
    const secret = new Error('bucket arn:aws:s3:::secret-bucket is on fire')
    vi.spyOn(api.objects, 'copy').mockRejectedValue(secret)
    const response = await api.promote({})
    const detail = 'Something failed on our side.'
    expectRefusal(response, 500, 'Internal Server Error', { reason: 'internal_error', detail })
    expect(api.logged).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'request answered', reason: 'internal_error', error: secret }),
    )
    expectUntouched(api)
  })
})
