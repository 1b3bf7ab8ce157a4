import { ProvisionedThroughputExceededException, ThrottlingException } from '@aws-sdk/client-dynamodb'
import {
  describeDecision,
  emissionIntervalMs,
  type RateLimiter,
  stateSeconds,
  toleranceMs,
} from '../../auth/rate-limit.ts'
import { type RateLimitPolicy, rateLimitOf } from '../../config.ts'
import { openTable, type TableSettings, type Update } from './table.ts'

const IS_QUIET = 'attribute_not_exists(tat_ms) OR tat_ms <= :now'
const IS_BUSY_WITHIN_LIMIT = 'tat_ms > :now AND tat_ms <= :latest_tat'
/** The load that throttles an item may be its neighbour's. */
const RETRY_FOR_MS = 250

/**
 * One item per key. GCRA: conditions cannot compute a maximum, so a quiet key and a busy key take different writes, each
 * safe against all others. A TAT only grows: a key found busy stays so, and two are enough. A repetition after a lost
 * answer may count a request twice: the key loses one request for a moment.
 */
export function createRateLimiter(settings: TableSettings & { policy: RateLimitPolicy; now(): number }): RateLimiter {
  const { policy, now } = settings
  const table = openTable(settings)
  const interval = emissionIntervalMs(policy)

  return {
    policy,
    withLimit: (requestsPerMinute) => createRateLimiter({ ...settings, policy: rateLimitOf(requestsPerMinute) }),

    async take(keyId, signal, count = 1) {
      const nowMs = now()
      let taken = await tryTake(keyId, count, true, nowMs, signal)
      const mayFit = taken.tatMs <= nowMs + toleranceMs(policy, count)
      if (!taken.done && mayFit) taken = await tryTake(keyId, count, false, nowMs, signal)
      return describeDecision(policy, taken.done, taken.tatMs, nowMs)
    },
  }

  async function tryTake(keyId: string, count: number, isQuiet: boolean, nowMs: number, signal: AbortSignal) {
    const change = {
      UpdateExpression: isQuiet ? 'SET tat_ms = :first_tat' : 'SET tat_ms = tat_ms + :interval',
      ConditionExpression: isQuiet ? IS_QUIET : IS_BUSY_WITHIN_LIMIT,
      values: isQuiet
        ? { ':now': nowMs, ':first_tat': nowMs + count * interval }
        : { ':now': nowMs, ':interval': count * interval, ':latest_tat': nowMs + toleranceMs(policy, count) },
      ReturnValues: 'UPDATED_NEW',
    } as const
    const taken = await write(keyId, change, nowMs, signal)
    // A key that DynamoDB cannot keep up with has spent its burst.
    if (taken === 'throttled') return { done: false, tatMs: nowMs + toleranceMs(policy) + interval }
    return { done: taken.applied, tatMs: Number(taken.item?.tat_ms?.N ?? 0) }
  }

  async function write(keyId: string, change: Update, nowMs: number, signal: AbortSignal) {
    const kept = {
      ...change,
      UpdateExpression: `${change.UpdateExpression}, ttl_at = :ttl_at`,
      values: { ...change.values, ':ttl_at': Math.ceil(nowMs / 1000) + stateSeconds(policy) },
    }
    try {
      return await table.update({ key_id: keyId }, kept, { name: 'rateLimit.take', signal, retryForMs: RETRY_FOR_MS })
    } catch (error) {
      if (isItemThrottled(error as Error)) return 'throttled'
      throw error
    }
  }
}

/** Whether DynamoDB throttled this item, not the table or the account, as far as it says. */
function isItemThrottled({ cause }: Error): boolean {
  if (cause instanceof ThrottlingException) return isOfKeys(cause.throttlingReasons)
  return cause instanceof ProvisionedThroughputExceededException && isOfKeys(cause.ThrottlingReasons)
}
const isOfKeys = (all: { reason?: string | undefined }[] = []) => all.every((each) => each.reason?.includes('KeyRange'))
