import { describe, expect, it, vi } from 'vitest'
import { REASONS, ServiceError } from '../../lib/errors.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { createAdmission } from '../../lib/promotion/admission.ts'
import { UNLIMITED } from '../support/api/documents-api.ts'
import { expectRefusal, expectUntouched, RATE_HEADERS } from '../support/api/promotion-answers.ts'
import { createTestApi, useTestApi } from '../support/api/test-api.ts'
import { NOW_MS } from '../support/ports.ts'
import { skipWaits } from '../support/virtual-waits.ts'

skipWaits()
const api = useTestApi()

it('POST …/promote: 403 when the quota would be exceeded, with its numbers, before anything is begun or copied', async () => {
  api.putFile('a.bin', Buffer.alloc(500))
  await api.promote({ path: 'a.bin' })
  await api.promote({})
  const calls = [vi.spyOn(api.documents, 'begin'), vi.spyOn(api.objects, 'copy')]
  const response = await api.promote({ path: 'a.bin' })
  expect(calls.map(({ mock }) => mock.calls)).toEqual([[], []])
  const detail = 'The file does not fit into what is left of the storage quota: delete documents, or ask for more.'
  const bytes = { quota_bytes: 1000, used_bytes: 508, file_bytes: 500 }
  const metadata = { reason: 'storage_quota_exceeded', detail, ...bytes }
  const usage = { 'storage-quota-bytes': '1000', 'storage-used-bytes': '508' }
  const headers = { ...RATE_HEADERS, ratelimit: '"default";r=2;t=3', ...usage }
  expectRefusal(response, 403, 'Workspace storage quota exceeded', metadata, { headers })
  expect(api.objects.documents.size).toBe(2)
})

describe('POST …/promote: 429', () => {
  it.each([
    ['a good request', {}],
    ['a malformed one', { fileId: 'malformed' }],
    ['one for a missing file', { path: 'missing' }],
    ['one without permission', { headers: {} }],
  ])('above the rate limit for %s: the limit outranks every later refusal', async (name, request) => {
    const headers =
      name === 'one without permission' ? { Authorization: `Bearer ${api.apiKeys.add({ permissions: [] })}` } : {}
    for (let i = 0; i < 5; i++) await api.promote({ path: 'missing', headers })
    const response = await api.promote({ ...request, headers })
    const detail = 'Requests come faster than the rate limit of the API key, or of all keys of its workspace, allows.'
    const told = { headers: { ...RATE_HEADERS, ratelimit: '"default";r=0;t=5', 'retry-after': '1' } }
    expectRefusal(response, 429, 'Rate limit exceeded', { reason: 'rate_limited', detail }, told)
    expectUntouched(api)
  })

  it('ends a lookup that hangs as soon as the limiter refuses', async () => {
    const refusal = { isAllowed: false, isDisabled: false, remaining: 0, retryAfterMs: 1000, resetMs: 5000 }
    const policy = { requestsPerMinute: 60, burst: 5 }
    const api = createTestApi({ rateLimiter: { ...UNLIMITED, take: async () => ({ policy, ...refusal }) } })
    const ended = vi.fn()
    vi.spyOn(api.objects, 'findContainerFile').mockImplementation(
      (_, signal) => new Promise((__, reject) => signal.addEventListener('abort', () => reject(ended(signal.reason)))),
    )
    expect((await api.promote({})).status).toBe(429)
    expect(ended.mock.calls).toMatchObject([[{ reason: 'rate_limited' }]])
  })

  it('when more promotions of a workspace begin than its ledger can take: Retry-After grows with their number', async () => {
    // The workspace is hot, so the ledger is tried only once.
    const api = createTestApi({ admission: createAdmission({ now: () => NOW_MS, random: () => 0.95 }) })
    vi.spyOn(api.ledger, 'hold').mockResolvedValue({ outcome: 'crowded' })
    for (let i = 0; i < 9; i++) api.dependencies.admission.count('ws_1' as WorkspaceId, false)
    const response = await api.promote({})
    const { detail } = REASONS.too_many_promotions
    const headers = { ...RATE_HEADERS, 'retry-after': '12' }
    expectRefusal(response, 429, 'Rate limit exceeded', { reason: 'too_many_promotions', detail }, { headers })
    expectUntouched(api)
  })
})

describe('POST …/promote: 500 and 503', () => {
  it('limits by what this process has let through while the rate limiter is away', async () => {
    const take = () => Promise.reject(new ServiceError('service_unavailable'))
    const api = createTestApi({ rateLimiter: { ...UNLIMITED, policy: { requestsPerMinute: 60, burst: 5 }, take } })
    const responses: Awaited<ReturnType<typeof api.promote>>[] = []
    for (let requests = 0; requests < 12; requests++) responses.push(await api.promote({ path: 'missing' }))
    const refused = responses.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(7)
    for (const { headers } of refused)
      expect(headers).toMatchObject({ ...RATE_HEADERS, ratelimit: '"default";r=0;t=5' })
    expect(api.published.filter((values) => 'RateLimiterUnavailable' in values)).toHaveLength(5)
  })

  it('is a plain 500 for what nobody foresaw, the cause in the log only', async () => {
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
