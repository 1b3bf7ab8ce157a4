import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { ServiceError } from '../errors.ts'
import {
  describeDecision,
  emissionIntervalMs,
  type RateLimiter,
  type RateLimitPolicy,
  stateSeconds,
  toleranceMs,
} from '../rate-limit.ts'
import { conditionally } from './conditional-write.ts'
import { send } from './send.ts'

const IS_QUIET = 'attribute_not_exists(tat_ms) OR tat_ms <= :now'
const IS_BUSY_WITHIN_LIMIT = 'tat_ms > :now AND tat_ms <= :latest_tat'
/** Two are enough unless other requests of the same key interfere. */
const MAX_TRIES = 4

/**
 * GCRA in the RateLimits table, one item per key. Conditions cannot compute a maximum, so a quiet key and a busy key
 * take different writes, each safe against all others. A repetition after a lost answer may count a request twice: the
 * key loses one request for a moment.
 */
export function createRateLimiter({
  client,
  tableName,
  policy,
  now,
}: {
  client: DynamoDBClient
  tableName: string
  policy: RateLimitPolicy
  now(): number
}): RateLimiter {
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
    const command = new UpdateItemCommand({
      TableName: tableName,
      Key: marshall({ key_id: keyId }),
      UpdateExpression: isQuiet
        ? 'SET tat_ms = :first_tat, expires_at = :expires_at'
        : 'SET tat_ms = tat_ms + :interval, expires_at = :expires_at',
      ConditionExpression: isQuiet ? IS_QUIET : IS_BUSY_WITHIN_LIMIT,
      ExpressionAttributeValues: marshall({
        ':now': nowMs,
        ':expires_at': Math.ceil(nowMs / 1000) + stateSeconds(policy),
        ...(isQuiet
          ? { ':first_tat': nowMs + interval }
          : { ':interval': interval, ':latest_tat': nowMs + toleranceMs(policy) }),
      }),
      ReturnValues: 'UPDATED_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    })
    const write = await conditionally(send(client, command, { name: 'rateLimit.take', signal }))
    return { done: write.held, tatMs: tatOf(write.held ? write.output.Attributes : write.item) }
  }
}

function tatOf(item: UpdateItemCommand['input']['Key']): number {
  return Number(unmarshall(item ?? {}).tat_ms ?? 0)
}
