import { describeDecision, emissionIntervalMs, type RateLimiter, toleranceMs } from '../../../lib/auth/rate-limit.ts'
import type { RateLimitPolicy } from '../../../lib/config.ts'

export function createFakeRateLimiter(policy: RateLimitPolicy, now: () => number): RateLimiter {
  const tats = new Map<string, number>()
  return {
    policy,
    async take(keyId, _signal, count = 1) {
      const nowMs = now()
      const tatMs = Math.max(tats.get(keyId) ?? 0, nowMs)
      if (tatMs > nowMs + toleranceMs(policy, count)) return describeDecision(policy, false, tatMs, nowMs)
      tats.set(keyId, tatMs + count * emissionIntervalMs(policy))
      return describeDecision(policy, true, tatMs + count * emissionIntervalMs(policy), nowMs)
    },
  }
}
