import {
  type Counter,
  counterOf,
  countInProcess,
  emissionIntervalMs,
  type RateLimitDecision,
  type RateLimiter,
} from '../../auth/rate-limit.ts'
import { ServiceError } from '../../errors.ts'
import type { Metrics } from '../../metrics.ts'
import type { ApiMiddleware, RequestState } from '../request-state.ts'

/** A slower limiter is treated as down: it must not hold up the requests that it is there to protect. */
const LIMITER_TIMEOUT_MS = 1000

/**
 * Counts the request beside the handler's lookups (docs/architecture.md). A refusal takes precedence over any error of
 * the handler; if it needs no call, the handler does not even start.
 */
export function limitRate(deps: { rateLimiter: RateLimiter; metrics: Metrics; now(): number }): ApiMiddleware {
  const { metrics } = deps
  const counts = countInProcess(deps.rateLimiter, deps.now)
  const before: ApiMiddleware['before'] = ({ event }) => {
    const { state } = event
    if (state.caller === undefined) throw new Error('the rate limit needs an authenticated caller')
    const counter = counterOf(state.caller)
    const refusal = counts.refusalOf(counter)
    const decision = refusal ? Promise.resolve(refusal) : takeOrPass(counter, state)
    const rateLimitPassed = decision.then(requireAllowed)
    const countMore = (most: number) => countAsManyAsFit(counter, state, most)
    const pauseMs = (count: number) => counts.pauseMs(counter, count)
    state.rateLimit = { decision, rateLimitPassed, countMore, pauseMs }
    const refused = new AbortController()
    rateLimitPassed.catch((refusal) => refused.abort(refusal))
    state.deadline = { ...state.deadline, signal: AbortSignal.any([state.deadline.signal, refused.signal]) }
    return refusal && rateLimitPassed
  }

  const after: ApiMiddleware['after'] = async ({ event: { state } }) => {
    const decision = await state.rateLimit?.decision
    if (decision) Object.assign(state.responseHeaders, rateLimitHeaders(decision))
  }

  const onError: ApiMiddleware['onError'] = async (request) => {
    await after(request)
    await request.event.state.rateLimit?.rateLimitPassed.catch((refusal: Error) => {
      request.error = refusal
    })
  }

  /** One more write. Where only some fit, as far as the last decision tells, these are taken. */
  async function countAsManyAsFit(counter: Counter, state: RequestState, most: number): Promise<number> {
    if (counts.refusalOf(counter)) return 0
    const last = await state.rateLimit?.decision
    const count = Math.min(most, Math.max(1, last?.remaining ?? deps.rateLimiter.policy.burst))
    const decision = await takeOrPass(counter, state, count)
    if (decision === undefined) return most
    if (state.rateLimit) state.rateLimit.decision = Promise.resolve(decision)
    return decision.isAllowed ? count : 0
  }

  /** @returns undefined while the limiter is down: the request passes */
  function takeOrPass(counter: Counter, { deadline, log }: RequestState, count?: number) {
    const signal = AbortSignal.any([deadline.signal, AbortSignal.timeout(LIMITER_TIMEOUT_MS)])
    return counts.take(counter, signal, count).catch((error) => {
      if (!deadline.signal.aborted) metrics.publish({ RateLimiterUnavailable: 1 })
      log.warn('rate limiter unavailable, request let through', { error })
      return undefined
    })
  }

  return { before, after, onError }
}

function requireAllowed(decision: RateLimitDecision | undefined): void {
  if (decision?.isDisabled) throw new ServiceError('workspace_disabled')
  if (decision?.isAllowed !== false) return
  const retryAfterSeconds = Math.max(1, Math.ceil(decision.retryAfterMs / 1000))
  throw new ServiceError('rate_limited', { retryAfterSeconds })
}

/** draft-ietf-httpapi-ratelimit-headers: the burst `q` is fully available again within `w` seconds. */
function rateLimitHeaders({ policy, ...decision }: RateLimitDecision): Record<string, string> {
  const windowSeconds = Math.max(1, Math.ceil((policy.burst * emissionIntervalMs(policy)) / 1000))
  return {
    'ratelimit-policy': `"default";q=${policy.burst};w=${windowSeconds}`,
    ratelimit: `"default";r=${decision.remaining};t=${Math.ceil(decision.resetMs / 1000)}`,
  }
}
