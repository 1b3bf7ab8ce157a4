import { describe, expect, it, vi } from 'vitest'
import type { RateLimitDecision, RateLimiter } from '../../lib/auth/rate-limit.ts'
import type { RateLimitPolicy } from '../../lib/config.ts'
import { ServiceError } from '../../lib/errors.ts'
import { createAdmission } from '../../lib/promotion/admission.ts'
import { expectRefusal, expectUntouched, RATE_HEADERS } from '../support/api/promotion-answers.ts'
import { createTestApi, UNLIMITED, useTestApi } from '../support/api/test-api.ts'
import { NOW_MS, WORKSPACE } from '../support/ports.ts'
import { skipWaits } from '../support/virtual-waits.ts'

skipWaits()
const api = useTestApi()
const POLICY: RateLimitPolicy = { requestsPerMinute: 60, burst: 5 }
const PASSED = { isAllowed: true, isDisabled: false, remaining: 4, resetMs: 1000, retryAfterMs: 0 }
const deciding = (decision: Partial<RateLimitDecision>, policy = POLICY): RateLimiter => ({
  ...UNLIMITED,
  take: async () => ({ policy, ...PASSED, ...decision }),
})

it('POST …/promote: 403 when the quota would be exceeded, with its numbers, before anything is begun or copied', async () => {
  api.putFile('a.bin', Buffer.alloc(500))
  await api.promote({ path: 'a.bin' })
  await api.promote()
  const calls = [vi.spyOn(api.documents, 'begin'), vi.spyOn(api.objects, 'copy')]
  const response = await api.promote({ path: 'a.bin' })
  expect(calls.map(({ mock }) => mock.calls)).toEqual([[], []])
  const bytes = { quota_bytes: 1000, used_bytes: 508, file_bytes: 500 }
  const usage = { 'storage-quota-bytes': '1000', 'storage-used-bytes': '508' }
  const headers = { ...RATE_HEADERS, ratelimit: '"default";r=2;t=3', ...usage }
  expectRefusal(response, 'storage_quota_exceeded', bytes, { headers })
  expect(api.objects.documents.size).toBe(2)
})

describe('POST …/promote: 429', () => {
  it.each<[string, object, []?]>([
    ['a good request', {}],
    ['a malformed one', { parameters: { file_id: 'malformed' } }],
    ['one for a missing file', { path: 'missing' }],
    ['one without permission', {}, []],
  ])('above the rate limit for %s: the limit outranks every later refusal', async (_, request, permissions) => {
    const token = permissions ? api.apiKeys.add({ permissions }) : api.token
    for (let i = 0; i < 5; i++) await api.promote({ path: 'missing', token })
    const headers = { ...RATE_HEADERS, ratelimit: '"default";r=0;t=5', 'retry-after': '1' }
    expectRefusal(await api.promote({ ...request, token }), 'rate_limited', {}, { headers })
    expectUntouched(api)
  })

  it('ends a lookup that hangs as soon as the limiter refuses', async () => {
    const api = createTestApi({ rateLimiter: deciding({ isAllowed: false }) })
    const ended = vi.fn()
    vi.spyOn(api.objects, 'findContainerFile').mockImplementation(
      (_, signal) => new Promise((__, reject) => signal.addEventListener('abort', () => reject(ended(signal.reason)))),
    )
    expect((await api.promote()).status).toBe(429)
    expect(ended.mock.calls).toMatchObject([[{ reason: 'rate_limited' }]])
  })

  it('when more promotions of a workspace begin than its ledger can take: Retry-After grows with their number', async () => {
    // The workspace is hot, so the ledger is tried only once.
    const api = createTestApi({ admission: createAdmission({ now: () => NOW_MS, random: () => 0.95 }) })
    vi.spyOn(api.ledger, 'hold').mockResolvedValue({ outcome: 'crowded' })
    for (let i = 0; i < 9; i++) api.dependencies.admission.count(WORKSPACE, false)
    const headers = { ...RATE_HEADERS, 'retry-after': '12' }
    expectRefusal(await api.promote(), 'too_many_promotions', {}, { headers })
    expectUntouched(api)
  })
})

describe('POST …/promote: 500 and 503', () => {
  it('limits by what this process has let through while the rate limiter is away', async () => {
    const take = () => Promise.reject(new ServiceError('service_unavailable'))
    const api = createTestApi({ rateLimiter: { ...UNLIMITED, policy: POLICY, take } })
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
    expectRefusal(await api.promote(), 'internal_error')
    expect(api.logged).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'request answered', reason: 'internal_error', error: secret }),
    )
    expectUntouched(api)
  })
})

const headersOf = async (decision: Partial<RateLimitDecision>, policy = POLICY) =>
  (await createTestApi({ rateLimiter: deciding(decision, policy) }).promote()).headers

describe('the headers of the rate limit', () => {
  it.each([
    [0, '0'],
    [1000, '1'],
    [1001, '2'],
  ])('say of a burst that is back in %d ms: t=%s, no second too early', async (resetMs, seconds) => {
    expect(await headersOf({ resetMs, remaining: 3 })).toMatchObject({ ratelimit: `"default";r=3;t=${seconds}` })
  })

  it.each([
    [0, '1'],
    [1000, '1'],
    [1001, '2'],
  ])('tell who may come back in %d ms to wait %s s: never none', async (retryAfterMs, seconds) => {
    expect(await headersOf({ isAllowed: false, retryAfterMs })).toMatchObject({ 'retry-after': seconds })
  })

  it.each([
    [{ requestsPerMinute: 600, burst: 100 }, 'q=100;w=10'],
    [{ requestsPerMinute: 7, burst: 1 }, 'q=1;w=9'],
    [{ requestsPerMinute: 6000, burst: 1 }, 'q=1;w=1'],
  ])('tell the policy %j: %s', async (policy, told) => {
    expect(await headersOf({}, policy)).toMatchObject({ 'ratelimit-policy': `"default";${told}` })
  })
})
