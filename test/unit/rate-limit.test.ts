import { describe, expect, it } from 'vitest'
import { describeDecision, stateSeconds } from '../../lib/rate-limit.ts'

describe('describeDecision', () => {
  const policy = { requestsPerMinute: 60, burst: 5 }
  it.each([
    ['a quiet key', -10_000, { remaining: 5, resetMs: 0, retryAfterMs: 0 }],
    ['one request', 1000, { remaining: 4, resetMs: 1000, retryAfterMs: 0 }],
    ['half a request back', 1500, { remaining: 3, resetMs: 1500, retryAfterMs: 0 }],
    ['one left', 4000, { remaining: 1, resetMs: 4000, retryAfterMs: 0 }],
    ['none left', 5000, { remaining: 0, resetMs: 5000, retryAfterMs: 1000 }],
  ])('after %s', (_, aheadMs, expected) => {
    expect(describeDecision(policy, true, 1_000_000 + aheadMs, 1_000_000)).toEqual({ isAllowed: true, ...expected })
  })
})

describe('stateSeconds', () => {
  const DAY = 86_400
  it.each([
    ['as long as the whole burst takes to come back', { requestsPerMinute: 1, burst: 10_000 }, 600_000],
    ['at least a day', { requestsPerMinute: 600, burst: 100 }, DAY],
    ['rounded up', { requestsPerMinute: 7, burst: 10_081 }, 86_409],
  ])('%s', (_, policy, seconds) => {
    expect(stateSeconds(policy)).toBe(seconds)
  })
})
