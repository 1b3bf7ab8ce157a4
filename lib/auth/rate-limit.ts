import type { RateLimitPolicy } from '../config.ts'

export interface RateLimitDecision {
  isAllowed: boolean
  /** Requests that could be sent right now. */
  remaining: number
  /** Until the whole burst is available again. */
  resetMs: number
  /** Until the next request would be allowed; 0 when one is. */
  retryAfterMs: number
}

export interface RateLimiter {
  readonly policy: RateLimitPolicy
  /** The same keys, with a limit of their own. */
  withLimit(requestsPerMinute: number): RateLimiter
  /**
   * Counts requests if they are all within the limit.
   * @param count at most the burst; omitted: one
   * @throws ServiceError service_unavailable: the store does not answer
   */
  take(keyId: string, signal: AbortSignal, count?: number): Promise<RateLimitDecision>
}

/** A day, whatever the policy: what DynamoDB's TTL removes too early has to be written again. */
const LEAST_STATE_SECONDS = 24 * 60 * 60

export function emissionIntervalMs(policy: RateLimitPolicy): number {
  return 60_000 / policy.requestsPerMinute
}

/** How far ahead the TAT may be for so many more requests to be allowed. */
export function toleranceMs(policy: RateLimitPolicy, count = 1): number {
  return (policy.burst - count) * emissionIntervalMs(policy)
}

/** A TAT must be kept while it can be in the future: without it, the key would get a whole new burst. */
export function stateSeconds(policy: RateLimitPolicy): number {
  return Math.max(LEAST_STATE_SECONDS, Math.ceil((policy.burst * emissionIntervalMs(policy)) / 1000))
}

export function describeDecision(
  policy: RateLimitPolicy,
  isAllowed: boolean,
  tatMs: number,
  nowMs: number,
): RateLimitDecision {
  const aheadMs = Math.max(0, tatMs - nowMs)
  const headroomMs = toleranceMs(policy) - aheadMs
  return {
    isAllowed,
    remaining: headroomMs < 0 ? 0 : Math.floor(headroomMs / emissionIntervalMs(policy)) + 1,
    resetMs: aheadMs,
    retryAfterMs: Math.max(0, -headroomMs),
  }
}

/** At this many, all are forgotten, which does no harm: the store counts, too. */
const MOST_KEYS = 10_000

/**
 * Counts what this process lets through, and remembers what the store answered. A TAT only grows, so what is above the
 * limit here is above it there. So a busy key spares its item, and is limited even while the store does not answer.
 */
export function countInProcess(now: () => number) {
  const tats = new Map<string, number>()
  return (store: Pick<RateLimiter, 'policy' | 'take'>) => ({
    /** @returns undefined: the store has to be asked */
    refusalOf(keyId: string): RateLimitDecision | undefined {
      const [tatMs, nowMs] = [tats.get(keyId) ?? 0, now()]
      return tatMs > nowMs + toleranceMs(store.policy) ? describeDecision(store.policy, false, tatMs, nowMs) : undefined
    },

    /** Until so many would be allowed, or a whole burst, as far as this process knows. */
    pauseMs(keyId: string, count: number): number {
      const latestTatMs = now() + toleranceMs(store.policy, Math.min(count, store.policy.burst))
      return Math.max(0, (tats.get(keyId) ?? 0) - latestTatMs)
    },

    async take(keyId: string, signal: AbortSignal, count = 1): Promise<RateLimitDecision> {
      const nowMs = now()
      const interval = emissionIntervalMs(store.policy)
      if (tats.size >= MOST_KEYS) tats.clear()
      tats.set(keyId, Math.max(nowMs, tats.get(keyId) ?? 0) + count * interval)
      const decision = await store.take(keyId, signal, count)
      // A request that the store refuses counts nowhere.
      const ownTatMs = (tats.get(keyId) ?? 0) - (decision.isAllowed ? 0 : count * interval)
      tats.set(keyId, Math.max(ownTatMs, nowMs + decision.resetMs))
      return decision
    },
  })
}
