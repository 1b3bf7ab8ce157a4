import {
  describeDecision,
  emissionIntervalMs,
  mostWaits,
  type RateLimiter,
  toleranceMs,
} from '../../../lib/auth/rate-limit.ts'
import type { RateLimitPolicy } from '../../../lib/config.ts'

export function createFakeRateLimiter(policy: RateLimitPolicy, now: () => number): RateLimiter {
  const tats = new Map<string, number>()
  const waits: { keyId: string; leaseEndsAtMs: number }[] = []
  return {
    policy,
    async take(keyId, _signal, count = 1) {
      const nowMs = now()
      const tatMs = Math.max(tats.get(keyId) ?? 0, nowMs)
      if (tatMs > nowMs + toleranceMs(policy, count)) return describeDecision(policy, false, tatMs, nowMs)
      tats.set(keyId, tatMs + count * emissionIntervalMs(policy))
      return describeDecision(policy, true, tatMs + count * emissionIntervalMs(policy), nowMs)
    },
    async beginWait(keyId, longestMs) {
      const leases = waits.filter((each) => each.keyId === keyId && each.leaseEndsAtMs > now())
      if (leases.length >= mostWaits(policy)) {
        return { retryAfterMs: Math.min(...leases.map(({ leaseEndsAtMs }) => leaseEndsAtMs)) - now() }
      }
      const wait = { keyId, leaseEndsAtMs: now() + longestMs }
      waits.push(wait)
      return { end: async () => void (waits.includes(wait) && waits.splice(waits.indexOf(wait), 1)) }
    },
  }
}
