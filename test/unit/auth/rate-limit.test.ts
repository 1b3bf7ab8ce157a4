import { describe, expect, it } from 'vitest'
import { stateSeconds } from '../../../lib/auth/rate-limit.ts'

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
