import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import {
  type Counter,
  counterOf,
  countInProcess,
  type WorkspaceLimits,
  workspaceCounterId,
} from '../../../lib/auth/rate-limit.ts'
import { openStores } from '../../../lib/aws/stores.ts'
import { rateLimitOf } from '../../../lib/config.ts'
import { assertProperty } from '../../support/assert-property.ts'
import { CONFIG, createMemoryTables, RATE_LIMITS_TABLE } from '../../support/dynamodb/memory-tables.ts'
import { LEASE_MS, NOW_MS, signal, WORKSPACE } from '../../support/ports.ts'
import { counter } from '../../support/stores/keys-and-limits.ts'

const PROCESSES = 3
const DAY_MS = 86_400_000

/** What limiter, table and all processes are to do together: GCRA, by the newest limits that have arrived. */
function createOracle() {
  let limits: WorkspaceLimits = { version: 0 }
  let tatMs = 0
  const policy = () => rateLimitOf(limits.requestsPerMinute ?? CONFIG.rateLimitPerMinute)
  const intervalMs = () => 60_000 / policy().requestsPerMinute
  const allows = (nowMs: number, count = 1) =>
    !limits.isDisabled && Math.max(nowMs, tatMs) <= nowMs + (policy().burst - count) * intervalMs()
  return {
    policy,
    arrive(newer: WorkspaceLimits) {
      if (newer.version <= limits.version) return
      const isSame = newer.requestsPerMinute === limits.requestsPerMinute && newer.isDisabled === limits.isDisabled
      if (!isSame) tatMs = 0
      limits = newer
    },
    version: () => limits.version,
    allows,
    take(nowMs: number, count: number) {
      const isAllowed = allows(nowMs, count)
      if (isAllowed) tatMs = Math.max(nowMs, tatMs) + count * intervalMs()
      return isAllowed
    },
  }
}

const plan = fc.record({
  requestsPerMinute: fc.constantFrom(undefined, 1, 6, 60, 600),
  isDisabled: fc.constantFrom(undefined, undefined, true as const),
  isLate: fc.boolean(),
})
const steps = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ process: fc.constantFrom(0, 0, 0, 0, 1, 2), count: fc.constantFrom(1, 1, 1, 2, 10, 100) }),
  },
  { weight: 2, arbitrary: plan },
  { weight: 1, arbitrary: fc.constantFrom('first arrives' as const, 'last arrives' as const) },
)
const waits = fc.constantFrom(0, 0, 1, 99, 100, 999, 1000, 10_000, 60_000, 2 * DAY_MS)
const histories = fc.array(fc.tuple(waits, steps), { maxLength: 40 })

it('processes count a workspace as one would, by the limit that holds, and refuse by another for a second at most', async () => {
  const isKey = { keyId: 'key_1', workspaceId: WORKSPACE, kind: 'standard', permissions: [], userId: 'user_1' } as const
  const play = async (history: typeof histories extends fc.Arbitrary<infer History> ? History : never) => {
    let nowMs = NOW_MS
    const stored = createMemoryTables({ now: () => nowMs })
    const open = () => openStores({ config: CONFIG, dynamoDb: stored.client, s3: {} as never, now: () => nowMs })
    const { workspaces, rateLimiter } = open()
    const processes = Array.from({ length: PROCESSES }, () => ({
      counting: countInProcess(open().rateLimiter, () => nowMs),
      askedAtMs: 0,
      askedIn: 0,
    }))
    const oracle = createOracle()
    let onTheirWay: { limits: WorkspaceLimits; sentAtMs: number }[] = []
    const arrive = async (limits: WorkspaceLimits) => {
      await rateLimiter.setLimits(WORKSPACE, limits, signal)
      oracle.arrive(limits)
    }
    let { ledger } = await workspaces.create(WORKSPACE, { quotaBytes: 1 }, signal)
    for (const [afterMs, step] of history) {
      nowMs += afterMs
      // What is sent to DynamoDB arrives within a lease, or never (docs/reliability.md).
      onTheirWay = onTheirWay.filter(({ sentAtMs }) => nowMs - sentAtMs <= LEASE_MS)
      const [item] = stored.attributes(RATE_LIMITS_TABLE)
      if (Number(item?.ttl_at?.N) < nowMs / 1000) await stored.removeAll(RATE_LIMITS_TABLE)
      if (typeof step === 'string') {
        const late = step === 'first arrives' ? onTheirWay.shift() : onTheirWay.pop()
        if (late) await arrive(late.limits)
      } else if ('process' in step) {
        const each = processes[step.process] ?? expect.fail()
        const refusal = each.counting.refusalOf(counterOf(isKey))
        if (refusal) {
          expect(nowMs - each.askedAtMs).toBeLessThan(1000)
          if (each.askedIn === oracle.version()) expect(oracle.allows(nowMs)).toBe(false)
        } else {
          each.askedAtMs = nowMs
          // The first time, and after the TTL, the ledger is asked.
          if (stored.attributes(RATE_LIMITS_TABLE).length === 0) oracle.arrive(ledger)
          const { isAllowed, policy } = await each.counting.take(counterOf(isKey), signal, step.count)
          each.askedIn = oracle.version()
          expect([isAllowed, policy]).toEqual([oracle.take(nowMs, step.count), oracle.policy()])
        }
      } else {
        const { isLate, ...to } = step
        const changed = await workspaces.change(WORKSPACE, { shown: ledger, to }, signal)
        ledger = typeof changed === 'object' ? changed : expect.fail()
        if (isLate) onTheirWay.push({ limits: ledger, sentAtMs: nowMs })
        else await arrive(ledger)
      }
    }
  }
  await assertProperty(fc.asyncProperty(histories, play), { numRuns: 500 })
})

it.each([
  [undefined, 4, 1],
  [30, 5, 2],
])('of a workspace with the limit %s, the first request takes %i calls, and %i in another process', async (...row) => {
  const [requestsPerMinute, ofFirst, inAnother] = row
  let nowMs = NOW_MS
  const stored = createMemoryTables({ now: () => nowMs })
  const sending = vi.spyOn(stored.client, 'send')
  const open = () => openStores({ config: CONFIG, dynamoDb: stored.client, s3: {} as never, now: () => nowMs })
  const { rateLimiter, workspaces } = open()
  await workspaces.create(WORKSPACE, { quotaBytes: 1, requestsPerMinute }, signal)
  const shared = { id: workspaceCounterId(WORKSPACE), workspaceId: WORKSPACE, requestsPerMinute: undefined }
  const callsOf = async (counted: Counter = shared, limiter = rateLimiter) => {
    sending.mockClear()
    expect(await limiter.take(counted, signal)).toMatchObject({ isAllowed: true })
    return sending.mock.calls.length
  }
  const callsAfterAMinute = (limiter = rateLimiter) => {
    nowMs += 60_000
    return callsOf(shared, limiter)
  }
  expect(await callsOf()).toBe(ofFirst)
  // A busy counter takes a second write, a key with a limit of its own a read.
  expect(await callsOf()).toBe(2)
  expect(await callsOf({ ...shared, id: 'key_1', requestsPerMinute: 12 })).toBe(2)
  expect([await callsAfterAMinute(), await callsAfterAMinute()]).toEqual([1, 1])
  expect(await callsAfterAMinute(open().rateLimiter)).toBe(inAnother)
  // After a day without requests, DynamoDB forgets the counter.
  await stored.removeAll(RATE_LIMITS_TABLE)
  expect(await callsAfterAMinute()).toBe(ofFirst)
})

it('limits by what it has counted itself while the store does not answer, but asks it once a second', async () => {
  let nowMs = 0
  const take = () => Promise.reject(new Error('away'))
  const counting = countInProcess({ policy: { requestsPerMinute: 60, burst: 2 }, take }, () => nowMs)
  const send = async () =>
    counting.refusalOf(counter()) ?? (await counting.take(counter(), signal).catch(() => 'asked'))
  expect([await send(), await send(), await send()]).toMatchObject(['asked', 'asked', { isAllowed: false }])
  nowMs = 999
  expect(await send()).toMatchObject({ retryAfterMs: 1 })
  nowMs = 1000
  expect(await send()).toBe('asked')
})

it('a request that the store refuses counts nowhere', async () => {
  let nowMs = 0
  const policy = { requestsPerMinute: 60, burst: 5 }
  const told = [
    { isAllowed: true, resetMs: 4000 },
    { isAllowed: false, resetMs: 4100 },
  ]
  const others = { policy, isDisabled: false, remaining: 0, retryAfterMs: 0 }
  const take = async () => ({ ...others, ...(told.shift() ?? expect.fail()) })
  const counting = countInProcess({ policy, take }, () => nowMs)
  for (let requests = 0; requests < 2; requests++) await counting.take(counter(), signal)
  expect(counting.refusalOf(counter())).toMatchObject({ retryAfterMs: 100 })
  nowMs = 100
  expect(counting.refusalOf(counter())).toBeUndefined()
})

it('a process remembers ten thousand counters at most', async () => {
  const policy = { requestsPerMinute: 1, burst: 1 }
  const refusal = { policy, isAllowed: false, isDisabled: false, remaining: 0, resetMs: 60_000, retryAfterMs: 60_000 }
  const counting = countInProcess({ policy, take: async () => refusal }, () => 0)
  await counting.take(counter('first'), signal)
  expect(counting.refusalOf(counter('first'))).toBeDefined()
  for (let key = 0; key < 10_000; key++) await counting.take(counter(`key_${key}`), signal)
  expect(counting.refusalOf(counter('first'))).toBeUndefined()
})
