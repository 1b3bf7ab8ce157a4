import { beforeEach, expect, it } from 'vitest'
import type { RateLimiter } from '../../lib/auth/rate-limit.ts'
import type { RateLimitPolicy } from '../../lib/config.ts'
import { newAttemptId } from '../../lib/ids.ts'
import { counter } from '../support/stores/keys-and-limits.ts'
import { openTableStores, useTables } from '../support/stores/table-stores.ts'

/** One request every 100 ms, three at once. */
const POLICY: RateLimitPolicy = { requestsPerMinute: 600, burst: 3 }
const { signal } = new AbortController()

const tables = useTables()
let nowMs: number
let limiter: RateLimiter
let key: string
const limiterOf = (rateLimit: RateLimitPolicy) => {
  const { dynamoDb, config } = tables()
  return openTableStores({ dynamoDb, config: { ...config, rateLimit } }, () => nowMs).rateLimiter
}
beforeEach(() => {
  nowMs = 1_800_000_000_000
  limiter = limiterOf(POLICY)
  key = `key_${newAttemptId()}`
})
const take = () => limiter.take(counter(key), signal)

it('allows the burst, then refuses and says until when', async () => {
  expect(await take()).toMatchObject({ isAllowed: true, remaining: 2, resetMs: 100, retryAfterMs: 0 })
  expect(await take()).toMatchObject({ isAllowed: true, remaining: 1, resetMs: 200, retryAfterMs: 0 })
  expect(await take()).toMatchObject({ isAllowed: true, remaining: 0, resetMs: 300, retryAfterMs: 100 })
  expect(await take()).toMatchObject({ isAllowed: false, remaining: 0, resetMs: 300, retryAfterMs: 100 })
})

it('counts several at once, all or none of them', async () => {
  const several = (count: number) => limiter.take(counter(key), signal, count)
  expect(await several(2)).toMatchObject({ isAllowed: true, remaining: 1, resetMs: 200, retryAfterMs: 0 })
  expect(await several(2)).toMatchObject({ isAllowed: false, remaining: 1, resetMs: 200 })
  expect(await several(1)).toMatchObject({ isAllowed: true, remaining: 0, resetMs: 300, retryAfterMs: 100 })
  nowMs += 300
  expect(await several(3)).toMatchObject({ isAllowed: true, remaining: 0 })
})

it.each([
  ['seven days and more, where the burst takes that long to come back', 1, 10_000, 600_000],
  ['a day at least', 600, 100, 86_400],
])('the state is kept %s, by its first write and by the next', async (_, requestsPerMinute, burst, seconds) => {
  const { dynamoDb, config } = tables()
  limiter = limiterOf({ requestsPerMinute, burst })
  for (let write = 0; write < 2; write++) {
    await take()
    const { Item } = await dynamoDb.getItem({ TableName: config.rateLimitsTable, Key: { key_id: { S: key } } })
    expect(Item?.ttl_at).toEqual({ N: String(nowMs / 1000 + seconds) })
  }
})
