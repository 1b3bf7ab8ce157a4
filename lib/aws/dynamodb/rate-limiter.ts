import {
  ProvisionedThroughputExceededException,
  ThrottlingException,
  type ThrottlingReason,
} from '@aws-sdk/client-dynamodb'
import {
  describeDecision,
  emissionIntervalMs,
  type RateLimiter,
  stateSeconds,
  toleranceMs,
} from '../../auth/rate-limit.ts'
import type { RateLimitPolicy } from '../../config.ts'
import { ServiceError } from '../../errors.ts'
import { openTable, type TableSettings } from './table.ts'

const IS_QUIET = 'attribute_not_exists(tat_ms) OR tat_ms <= :now'
const IS_BUSY_WITHIN_LIMIT = 'tat_ms > :now AND tat_ms <= :latest_tat'
/** Two are enough unless other requests of the same key interfere. */
const MAX_TRIES = 4
/** A hot item may be the neighbour's. */
const PATIENCE_MS = 250

/**
 * GCRA in the RateLimits table, one item per key. Conditions cannot compute a maximum, so a quiet key and a busy key
 * take different writes, each safe against all others. A repetition after a lost answer may count a request twice: the
 * key loses one request for a moment.
 */
export function createRateLimiter({
  policy,
  now,
  ...settings
}: TableSettings & { policy: RateLimitPolicy; now(): number }): RateLimiter {
  const table = openTable(settings)
  const interval = emissionIntervalMs(policy)

  return {
    policy,
    async take(keyId, signal) {
      let isQuiet = true
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const nowMs = now()
        const { done, tatMs } = await tryTake(keyId, isQuiet, nowMs, signal)
        if (done) return describeDecision(policy, true, tatMs, nowMs)
        if (tatMs > nowMs + toleranceMs(policy)) return describeDecision(policy, false, tatMs, nowMs)
        isQuiet = tatMs <= nowMs
      }
      throw new ServiceError('service_unavailable', { cause: new Error('rate limit state changed under every try') })
    },
  }

  async function tryTake(
    keyId: string,
    isQuiet: boolean,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<{ done: boolean; tatMs: number }> {
    const change = {
      UpdateExpression: isQuiet
        ? 'SET tat_ms = :first_tat, expires_at = :expires_at'
        : 'SET tat_ms = tat_ms + :interval, expires_at = :expires_at',
      ConditionExpression: isQuiet ? IS_QUIET : IS_BUSY_WITHIN_LIMIT,
      values: {
        ':now': nowMs,
        ':expires_at': Math.ceil(nowMs / 1000) + stateSeconds(policy),
        ...(isQuiet
          ? { ':first_tat': nowMs + interval }
          : { ':interval': interval, ':latest_tat': nowMs + toleranceMs(policy) }),
      },
      ReturnValues: 'UPDATED_NEW',
    } as const
    const options = { name: 'rateLimit.take', signal, patienceMs: PATIENCE_MS }
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
const isOfKeys = (reasons: ThrottlingReason[] = []) => reasons.every(({ reason }) => reason?.includes('KeyRange'))
