import { describe, expect, it } from 'vitest'
import type { RateLimitDecision } from '../../lib/auth/rate-limit.ts'
import type { RateLimitPolicy } from '../../lib/config.ts'
import { createTestApi, UNLIMITED } from '../support/api/test-api.ts'

const POLICY: RateLimitPolicy = { requestsPerMinute: 60, burst: 5 }
const PASSED = { isAllowed: true, isDisabled: false, remaining: 4, resetMs: 1000, retryAfterMs: 0 }

const promote = async (decision: Partial<RateLimitDecision>, policy = POLICY) => {
  const rateLimiter = { ...UNLIMITED, take: async () => ({ policy, ...PASSED, ...decision }) }
  return (await createTestApi({ rateLimiter }).promote()).headers
}

it("a key with a limit of its own has that one, and others have the stage's", async () => {
  const api = createTestApi()
  const own = api.apiKeys.add({ requestsPerMinute: 12 })
  const send = async (token: string) => {
    const { status, headers } = await api.promote({ path: 'missing', token })
    return [status, headers['ratelimit-policy']]
  }
  const answers = [await send(own), await send(own), await send(own), await send(api.token)]
  const policy = '"default";q=2;w=10'
  expect(answers).toEqual([
    [404, policy],
    [404, policy],
    [429, policy],
    [404, '"default";q=5;w=5'],
  ])
})

describe('the headers of the rate limit', () => {
  it.each([
    [0, '0'],
    [1000, '1'],
    [1001, '2'],
  ])('say of a burst that is back in %d ms: t=%s, no second too early', async (resetMs, seconds) => {
    expect(await promote({ resetMs, remaining: 3 })).toMatchObject({ ratelimit: `"default";r=3;t=${seconds}` })
  })

  it.each([
    [0, '1'],
    [1000, '1'],
    [1001, '2'],
  ])('tell who may come back in %d ms to wait %s s: never none', async (retryAfterMs, seconds) => {
    expect(await promote({ isAllowed: false, retryAfterMs })).toMatchObject({ 'retry-after': seconds })
  })

  it.each([
    [{ requestsPerMinute: 600, burst: 100 }, 'q=100;w=10'],
    [{ requestsPerMinute: 7, burst: 1 }, 'q=1;w=9'],
    [{ requestsPerMinute: 6000, burst: 1 }, 'q=1;w=1'],
  ])('tell the policy %j: %s', async (policy, told) => {
    expect(await promote({}, policy)).toMatchObject({ 'ratelimit-policy': `"default";${told}` })
  })
})
