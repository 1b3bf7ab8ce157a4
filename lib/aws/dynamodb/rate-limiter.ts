import { ProvisionedThroughputExceededException, ThrottlingException } from '@aws-sdk/client-dynamodb'
import {
  describeDecision,
  emissionIntervalMs,
  type RateLimiter,
  stateSeconds,
  toleranceMs,
} from '../../auth/rate-limit.ts'
import type { RateLimitPolicy } from '../../config.ts'
import { openTable, type TableSettings } from './table.ts'

const IS_QUIET = 'attribute_not_exists(tat_ms) OR tat_ms <= :now'
const IS_BUSY_WITHIN_LIMIT = 'tat_ms > :now AND tat_ms <= :latest_tat'
/** The load that throttles an item may be its neighbour's. */
const RETRY_FOR_MS = 250

/**
 * GCRA in the RateLimits table, one item per key. Conditions cannot compute a maximum, so a quiet key and a busy key
 * take different writes, each safe against all others. A TAT only grows: a key found busy stays so, and two are enough.
 * A repetition after a lost answer may count a request twice: the key loses one request for a moment.
 */
export function createRateLimiter(settings: TableSettings & { policy: RateLimitPolicy; now(): number }): RateLimiter {
  const { policy, now } = settings
  const table = openTable(settings)
  const interval = emissionIntervalMs(policy)

  return {
    policy,
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
      UpdateExpression: isQuiet
        ? 'SET tat_ms = :first_tat, expires_at = :expires_at'
        : 'SET tat_ms = tat_ms + :interval, expires_at = :expires_at',
      ConditionExpression: isQuiet ? IS_QUIET : IS_BUSY_WITHIN_LIMIT,
      values: {
        ':now': nowMs,
        ':expires_at': Math.ceil(nowMs / 1000) + stateSeconds(policy),
        ...(isQuiet
          ? { ':first_tat': nowMs + count * interval }
          : { ':interval': count * interval, ':latest_tat': nowMs + toleranceMs(policy, count) }),
      },
      ReturnValues: 'UPDATED_NEW',
    } as const
    const options = { name: 'rateLimit.take', signal, retryForMs: RETRY_FOR_MS }
    try {
      const { applied, item } = await table.update({ key_id: keyId }, change, options)
      return { done: applied, tatMs: Number(item?.tat_ms?.N ?? 0) }
    } catch (error) {
      // A key that DynamoDB cannot keep up with has spent its burst.
      if (isItemThrottled(error as Error)) return { done: false, tatMs: nowMs + toleranceMs(policy) + interval }
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
