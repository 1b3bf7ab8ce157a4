import { PLATFORM_REQUESTS_PER_MINUTE, type RateLimitPolicy, rateLimitOf } from '../config.ts'
import type { WorkspaceId } from '../ids.ts'
import type { AnyCaller } from './caller.ts'

export type Counter = { id: string } & Pick<AnyCaller, 'workspaceId' | 'requestsPerMinute'>

export interface RateLimitDecision {
  policy: RateLimitPolicy
  isAllowed: boolean
  /** The workspace is disabled: nothing is allowed. */
  isDisabled: boolean
  remaining: number
  /** Until the whole burst is available again. */
  resetMs: number
  /** Until the next request would be allowed; 0 when one is. */
  retryAfterMs: number
}

/** What the rate limiter knows of a workspace, as of one version of its ledger. */
export interface WorkspaceLimits {
  requestsPerMinute?: number | undefined
  isDisabled?: true | undefined
  version: number
}

export interface RateLimiter {
  /** Of a workspace without a limit of its own. */
  readonly policy: RateLimitPolicy
  /** Counts requests if they are all within the limit. @param count omitted: one. More than the burst are refused */
  take(counter: Counter, signal: AbortSignal, count?: number): Promise<RateLimitDecision>
  /**
   * Sets a workspace's limits; if they change, its count starts again. Limits from an older version of its ledger than
   * the current ones change nothing. May be repeated.
   */
  setLimits(workspaceId: WorkspaceId, limits: WorkspaceLimits, signal: AbortSignal): Promise<void>
}

/** At least a day, whatever the policy: items that DynamoDB's TTL removes sooner would only be written again. */
const LEAST_STATE_SECONDS = 24 * 60 * 60

/** A key with a limit of its own has a counter of its own; the other keys of a workspace share one. */
export function counterOf({ kind, keyId, workspaceId, requestsPerMinute }: AnyCaller): Counter {
  if (kind === 'platform')
    return { id: keyId, workspaceId, requestsPerMinute: requestsPerMinute ?? PLATFORM_REQUESTS_PER_MINUTE }
  const id = requestsPerMinute === undefined ? workspaceCounterId(workspaceId) : keyId
  return { id, workspaceId, requestsPerMinute }
}

export const workspaceCounterId = (workspaceId: WorkspaceId) => `workspace/${workspaceId}`

export function emissionIntervalMs(policy: RateLimitPolicy): number {
  return 60_000 / policy.requestsPerMinute
}

/** How far ahead the theoretical arrival time (TAT) may be for so many more requests to be allowed. */
export function toleranceMs(policy: RateLimitPolicy, count = 1): number {
  return (policy.burst - count) * emissionIntervalMs(policy)
}

/** A TAT must be kept while it can be in the future: without it, the counter would get a whole new burst. */
export function stateSeconds(policy: RateLimitPolicy): number {
  return Math.max(LEAST_STATE_SECONDS, Math.ceil((policy.burst * emissionIntervalMs(policy)) / 1000))
}

export function describeDecision(
  { policy, isAllowed, isDisabled = false }: Pick<RateLimitDecision, 'policy' | 'isAllowed'> & { isDisabled?: boolean },
  tatMs: number,
  nowMs: number,
): RateLimitDecision {
  const aheadMs = Math.max(0, tatMs - nowMs)
  const headroomMs = toleranceMs(policy) - aheadMs
  return {
    policy,
    isAllowed,
    isDisabled,
    remaining: headroomMs < 0 ? 0 : Math.floor(headroomMs / emissionIntervalMs(policy)) + 1,
    resetMs: aheadMs,
    retryAfterMs: Math.max(0, -headroomMs),
  }
}

/** At this many, all are forgotten, which does no harm: the store counts, too. */
const MOST_COUNTERS = 10_000
/** How long a process refuses without asking the store. Then it asks: the workspace may have got another limit. */
const MEMORY_MS = 1000

interface Count {
  decision: RateLimitDecision
  /** As the store told it, and what was let through without an answer. */
  tatMs: number
  /** When the store was last asked, and has answered or failed. */
  askedAtMs: number
}

/**
 * Remembers what the store answered, and counts what this process lets through while it does not answer. So a busy
 * counter spares its item, and is limited even while the store is away.
 */
export function countInProcess(store: Pick<RateLimiter, 'policy' | 'take'>, now: () => number) {
  const counts = new Map<string, Count>()
  const countOf = ({ id, requestsPerMinute }: Counter): Count => {
    const policy = requestsPerMinute === undefined ? store.policy : rateLimitOf(requestsPerMinute)
    const decision = () => describeDecision({ policy, isAllowed: true }, 0, now())
    return counts.get(id) ?? { decision: decision(), tatMs: 0, askedAtMs: Number.NEGATIVE_INFINITY }
  }

  return {
    /** @returns undefined: the store has to be asked */
    refusalOf(counter: Counter): RateLimitDecision | undefined {
      const { decision, tatMs, askedAtMs } = countOf(counter)
      const isRefused = decision.isDisabled || tatMs > now() + toleranceMs(decision.policy)
      if (!isRefused || now() - askedAtMs >= MEMORY_MS) return undefined
      return describeDecision({ ...decision, isAllowed: false }, tatMs, now())
    },

    /** Until so many would be allowed, or a whole burst, as far as this process knows. */
    pauseMs(counter: Counter, requests: number): number {
      const { decision, tatMs } = countOf(counter)
      const latestTatMs = now() + toleranceMs(decision.policy, Math.min(requests, decision.policy.burst))
      return Math.max(0, tatMs - latestTatMs)
    },

    async take(counter: Counter, signal: AbortSignal, requests = 1): Promise<RateLimitDecision> {
      const nowMs = now()
      if (counts.size >= MOST_COUNTERS) counts.clear()
      const count = countOf(counter)
      counts.set(counter.id, count)
      // As long as the store has not answered, this is all that is known.
      count.tatMs = Math.max(nowMs, count.tatMs) + requests * emissionIntervalMs(count.decision.policy)
      const decision = await store.take(counter, signal, requests).finally(() => {
        count.askedAtMs = nowMs
      })
      Object.assign(count, { decision, tatMs: nowMs + decision.resetMs })
      return decision
    },
  }
}
