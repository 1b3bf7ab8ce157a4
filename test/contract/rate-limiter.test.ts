import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { beforeEach, expect, it, vi } from 'vitest'
import type { RateLimiter } from '../../lib/auth/rate-limit.ts'
import { createRateLimiter } from '../../lib/aws/dynamodb/rate-limiter.ts'
import type { RateLimitPolicy } from '../../lib/config.ts'
import { newAttemptId } from '../../lib/ids.ts'
import { useTables } from '../support/stores/table-stores.ts'

/** One request every 100 ms, three at once. */
const POLICY: RateLimitPolicy = { requestsPerMinute: 600, burst: 3 }
const { signal } = new AbortController()

const tables = useTables()
let nowMs: number
let limiter: RateLimiter
let key: string
/** @param change of the client */
const limiterOf = (policy: RateLimitPolicy, change = {}) => {
  const { dynamoDb, config } = tables()
  const client = Object.assign(Object.create(dynamoDb), change)
  return createRateLimiter({ client, tableName: config.rateLimitsTable, policy, now: () => nowMs })
}
beforeEach(() => {
  nowMs = 1_800_000_000_000
  limiter = limiterOf(POLICY)
  key = `key_${newAttemptId()}`
})
const take = () => limiter.take(key, signal)

it('allows the burst, then refuses and says until when', async () => {
  expect(await take()).toEqual({ isAllowed: true, remaining: 2, resetMs: 100, retryAfterMs: 0 })
  expect(await take()).toEqual({ isAllowed: true, remaining: 1, resetMs: 200, retryAfterMs: 0 })
  expect(await take()).toEqual({ isAllowed: true, remaining: 0, resetMs: 300, retryAfterMs: 100 })
  expect(await take()).toEqual({ isAllowed: false, remaining: 0, resetMs: 300, retryAfterMs: 100 })
})

it('counts several at once, all or none of them', async () => {
  const several = (count: number) => limiter.take(key, signal, count)
  expect(await several(2)).toEqual({ isAllowed: true, remaining: 1, resetMs: 200, retryAfterMs: 0 })
  expect(await several(2)).toMatchObject({ isAllowed: false, remaining: 1, resetMs: 200 })
  expect(await several(1)).toEqual({ isAllowed: true, remaining: 0, resetMs: 300, retryAfterMs: 100 })
  nowMs += 300
  expect(await several(3)).toMatchObject({ isAllowed: true, remaining: 0 })
})

it('gives a quiet key its whole burst back, and no more', async () => {
  for (let i = 0; i < 3; i++) await take()
  nowMs += 86_400_000
  const allowed = [await take(), await take(), await take(), await take()].map(({ isAllowed }) => isAllowed)
  expect(allowed).toEqual([true, true, true, false])
})

const beginWait = async (longestMs = 10_000) => limiter.beginWait(key, longestMs, signal)
const isRefused = (wait: object) => !('end' in wait)

it('lets as many wait at once as may be sent in two seconds, and says when the first must have ended', async () => {
  const begun = [await beginWait(3000), ...(await Promise.all(Array.from({ length: 59 }, () => beginWait())))]
  expect(begun.filter(isRefused)).toHaveLength(40)
  const refused = (await beginWait()) as { retryAfterMs: number }
  expect(Math.round(refused.retryAfterMs / 10)).toBe(300)
  nowMs += 2999
  expect(await beginWait()).toSatisfy(isRefused)
  nowMs += 2
  expect((await Promise.all([beginWait(), beginWait()])).filter(isRefused)).toHaveLength(1)
  expect((await take()).remaining).toBe(2)
})

it('lets another wait for each that has ended, once, and not for one whose time is over anyway', async () => {
  const [late, ...others] = [await beginWait(1), ...(await Promise.all(Array.from({ length: 19 }, () => beginWait())))]
  nowMs += 3
  expect(await beginWait()).not.toSatisfy(isRefused)
  for (const wait of [late, others[0], others[0]]) if (wait && 'end' in wait) await wait.end(signal)
  expect((await Promise.all([beginWait(), beginWait()])).filter(isRefused)).toHaveLength(1)
})

it('a wait whose answer was lost has its own place, and no other, whatever begins in the same millisecond', async ({
  onTestFinished,
}) => {
  let random = 0.5
  const spied = vi.spyOn(Math, 'random').mockImplementation(() => (random += 1e-9))
  onTestFinished(() => spied.mockRestore())
  const { dynamoDb } = tables()
  let lost = 0
  limiter = limiterOf(
    { requestsPerMinute: 30, burst: 1 },
    {
      async send(...args: Parameters<typeof dynamoDb.send>) {
        const answer = await dynamoDb.send(...args)
        if (lost++ === 0) throw Object.assign(new Error('lost'), { name: 'TimeoutError' })
        return answer
      },
    },
  )
  expect([await beginWait(), lost]).toEqual([{ end: expect.any(Function) }, 2])
  expect(await beginWait()).toHaveProperty('retryAfterMs')
})

it.each([
  ['seven days and more, where the burst takes that long to come back', 1, 10_000, 600_000],
  ['a day at least', 600, 100, 86_400],
])('the state is kept %s, by its first write and by the next', async (_, requestsPerMinute, burst, seconds) => {
  const { dynamoDb, config } = tables()
  limiter = limiterOf({ requestsPerMinute, burst })
  for (let write = 0; write < 2; write++) {
    await take()
    const get = new GetItemCommand({ TableName: config.rateLimitsTable, Key: { key_id: { S: key } } })
    expect((await dynamoDb.send(get)).Item?.ttl_at).toEqual({ N: String(nowMs / 1000 + seconds) })
  }
})
