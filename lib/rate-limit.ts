/**
 * A rate limit by GCRA (the generic cell rate algorithm): `burst` requests at once, and one more every
 * `60 000 / requestsPerMinute` ms. All its state is one time, the theoretical arrival time (TAT): when the key, had it
 * sent evenly, would be due again. A key that has been quiet has its TAT in the past.
 */
export interface RateLimitPolicy {
  requestsPerMinute: number
  burst: number
}

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
  /**
   * Counts one request of a key, if it is within the limit.
   * @throws ServiceError service_unavailable when the store does not answer
   */
  take(keyId: string, signal: AbortSignal): Promise<RateLimitDecision>
}

/** A day, whatever the policy: DynamoDB's removals have to be written again. */
const LEAST_STATE_SECONDS = 24 * 60 * 60

export function emissionIntervalMs(policy: RateLimitPolicy): number {
  return 60_000 / policy.requestsPerMinute
}

/** The TAT may be at most this far ahead for one more request to be allowed. */
export function toleranceMs(policy: RateLimitPolicy): number {
  return (policy.burst - 1) * emissionIntervalMs(policy)
}

/** For as long as a TAT may lie ahead it must not be forgotten: the key would get a whole new burst. */
export function stateSeconds(policy: RateLimitPolicy): number {
  return Math.max(LEAST_STATE_SECONDS, Math.ceil((policy.burst * emissionIntervalMs(policy)) / 1000))
}

/** The state of the limit for the caller, as of now. */
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
