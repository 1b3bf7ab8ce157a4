import { ProvisionedThroughputExceededException, ThrottlingException } from '@aws-sdk/client-dynamodb'
import {
  type Counter,
  describeDecision,
  emissionIntervalMs,
  type RateLimitDecision,
  type RateLimiter,
  stateSeconds,
  toleranceMs,
  type WorkspaceLimits,
  workspaceCounterId,
} from '../../auth/rate-limit.ts'
import { type RateLimitPolicy, rateLimitOf } from '../../config.ts'
import type { WorkspaceId } from '../../ids.ts'
import type { Attributes } from './codec.ts'
import { asRead, getItem, setting, settingIfAsRead, type Table, type Update, updateItem } from './table.ts'

const IS_QUIET = '(attribute_not_exists(tat_ms) OR tat_ms <= :now)'
const IS_BUSY_WITHIN_LIMIT = 'tat_ms > :now AND tat_ms <= :latest_tat'
const HAS_LIMITS = 'attribute_exists(version)'
const IS_OLDER = '(attribute_not_exists(version) OR version < :version)'
/** A refused try learns that limits are missing, or others, or that the counter is busy. The fourth knows all three. */
const MOST_TRIES = 4
/** At this many, all are forgotten: each costs a refused write to learn again. */
const MOST_LIMITS = 10_000
/** The load that throttles an item may be its neighbour's. */
const RETRY_FOR_MS = 250

/**
 * One item per counter. GCRA: conditions cannot compute a maximum, so a quiet counter and a busy one take different
 * writes, each safe against all others. A repetition after a lost answer may count a request twice: the counter loses
 * one request for a moment.
 *
 * The item of a workspace has a copy of the limits in its ledger, with the ledger's version. A take is conditional on
 * the limit that it was computed for, so it never counts by an outdated one.
 */
export function createRateLimiter(
  table: Table & { workspacesTable: string; policy: RateLimitPolicy; now(): number },
): RateLimiter {
  const { policy: byDefault, now } = table
  const ledgers = { ...table, tableName: table.workspacesTable }
  /** The limits of workspaces that have their own, as this process last saw them. */
  const ownLimits = new Map<WorkspaceId, number>()
  const policyOf = (perMinute: number | undefined) => (perMinute === undefined ? byDefault : rateLimitOf(perMinute))
  const ttlAt = (policy: RateLimitPolicy, nowMs: number) => Math.ceil(nowMs / 1000) + stateSeconds(policy)

  return { policy: byDefault, take, setLimits }

  async function take(counter: Counter, signal: AbortSignal, count = 1): Promise<RateLimitDecision> {
    const { workspaceId, requestsPerMinute } = counter
    if (workspaceId === undefined) return takeWithin(counter, count, signal)
    if (requestsPerMinute === undefined) return takeWithin(counter, count, signal, workspaceId)
    const [decision, { isDisabled = false }] = await Promise.all([
      takeWithin(counter, count, signal),
      readLimits(workspaceId, signal),
    ])
    return { ...decision, isDisabled, isAllowed: decision.isAllowed && !isDisabled }
  }

  /** @param workspaceId whose limits hold for the counter; omitted: it has its own */
  async function takeWithin(
    { id, requestsPerMinute }: Counter,
    count: number,
    signal: AbortSignal,
    workspaceId?: WorkspaceId,
  ): Promise<RateLimitDecision> {
    const nowMs = now()
    let perMinute = workspaceId === undefined ? requestsPerMinute : ownLimits.get(workspaceId)
    let tatMs = 0
    for (let tries = 0; ; tries++) {
      const policy = policyOf(perMinute)
      const isOver = Math.max(nowMs, tatMs) > nowMs + toleranceMs(policy, count)
      if ((isOver && tries > 0) || tries === MOST_TRIES)
        return describeDecision({ policy, isAllowed: false }, tatMs, nowMs)
      const limit = workspaceId === undefined ? undefined : { per_minute: perMinute, disabled: undefined }
      const written = await tryToTake(id, { policy, limit, count, isQuiet: tatMs <= nowMs && !isOver, nowMs }, signal)
      if (written === 'throttled') {
        // A counter that DynamoDB cannot keep up with has spent its burst.
        const spentTatMs = nowMs + toleranceMs(policy) + emissionIntervalMs(policy)
        return describeDecision({ policy, isAllowed: false }, spentTatMs, nowMs)
      }
      tatMs = Number(written.item?.tat_ms?.N ?? 0)
      if (written.applied) return describeDecision({ policy, isAllowed: true }, tatMs, nowMs)
      if (workspaceId === undefined) continue
      const copied = written.item?.version && limitsIn(written.item)
      const limits = copied ?? (await readLimits(workspaceId, signal))
      if (!copied) await setLimits(workspaceId, limits, signal)
      perMinute = limits.requestsPerMinute
      remember(workspaceId, perMinute)
      const isDisabled = limits.isDisabled ?? false
      if (isDisabled) return describeDecision({ policy: policyOf(perMinute), isAllowed: false, isDisabled }, 0, nowMs)
    }
  }

  async function tryToTake(id: string, { policy, limit, count, isQuiet, nowMs }: Take, signal: AbortSignal) {
    const { condition, ...insisted } = asRead(limit ?? {})
    const conditions = [isQuiet ? IS_QUIET : IS_BUSY_WITHIN_LIMIT, ...(limit ? [HAS_LIMITS, condition] : [])]
    const takenMs = count * emissionIntervalMs(policy)
    const change: Update = {
      UpdateExpression: `SET tat_ms = ${isQuiet ? ':first_tat' : 'tat_ms + :interval'}, ttl_at = :ttl_at`,
      ConditionExpression: conditions.join(' AND '),
      ...(limit && { ExpressionAttributeNames: insisted.ExpressionAttributeNames }),
      values: {
        ...{ ':now': nowMs, ':ttl_at': ttlAt(policy, nowMs), ...insisted.values },
        ...(isQuiet
          ? { ':first_tat': nowMs + takenMs }
          : { ':interval': takenMs, ':latest_tat': nowMs + toleranceMs(policy, count) }),
      },
      ReturnValues: 'UPDATED_NEW',
    }
    const options = { name: 'rateLimit.take', signal, retryForMs: RETRY_FOR_MS }
    try {
      return await updateItem(table, { key_id: id }, change, options)
    } catch (error) {
      if (isItemThrottled(error as Error)) return 'throttled'
      throw error
    }
  }

  /** As the ledger has them: RateLimits forgets. A workspace without a ledger has none. */
  async function readLimits(workspaceId: WorkspaceId, signal: AbortSignal): Promise<WorkspaceLimits> {
    return limitsIn((await getItem(ledgers, { workspace_id: workspaceId }, { name: 'ledger.read', signal })) ?? {})
  }

  async function setLimits(workspaceId: WorkspaceId, limits: WorkspaceLimits, signal: AbortSignal): Promise<void> {
    const { requestsPerMinute: per_minute, isDisabled: disabled, version } = limits
    const key = { key_id: workspaceCounterId(workspaceId) }
    const options = { name: 'rateLimit.setLimits', signal }
    const newer = { version, ttl_at: ttlAt(policyOf(per_minute), now()) }
    const keeping = settingIfAsRead({ per_minute, disabled }, newer, IS_OLDER)
    if ((await updateItem(table, key, keeping, options)).applied) return
    const changing = setting({ ...newer, per_minute, disabled, tat_ms: undefined })
    await updateItem(table, key, { ...changing, ConditionExpression: IS_OLDER }, options)
  }

  function remember(workspaceId: WorkspaceId, perMinute: number | undefined) {
    if (ownLimits.size >= MOST_LIMITS) ownLimits.clear()
    if (perMinute === undefined) ownLimits.delete(workspaceId)
    else ownLimits.set(workspaceId, perMinute)
  }
}

interface Take {
  policy: RateLimitPolicy
  /** A workspace's, as the item has to have it. */
  limit: object | undefined
  count: number
  isQuiet: boolean
  nowMs: number
}

/** Ledger and counter have the same names for them. */
const limitsIn = ({ per_minute, disabled, version }: Attributes): WorkspaceLimits => ({
  requestsPerMinute: per_minute && Number(per_minute.N),
  isDisabled: disabled?.BOOL ? true : undefined,
  version: Number(version?.N ?? 0),
})

/** Whether DynamoDB throttled this item, not the table or the account, as far as it says. */
function isItemThrottled({ cause }: Error): boolean {
  if (cause instanceof ThrottlingException) return isOfKeys(cause.throttlingReasons)
  return cause instanceof ProvisionedThroughputExceededException && isOfKeys(cause.ThrottlingReasons)
}
const isOfKeys = (all: { reason?: string | undefined }[] = []) => all.every((each) => each.reason?.includes('KeyRange'))
