import { beforeEach, describe, expect, it } from 'vitest'
import type { RateLimiter } from '../../lib/auth/rate-limit.ts'
import type { RateLimitPolicy } from '../../lib/config.ts'
import { newAttemptId } from '../../lib/ids.ts'

/** One request every 100 ms, three at once. */
const POLICY: RateLimitPolicy = { requestsPerMinute: 600, burst: 3 }
const { signal } = new AbortController()

export function describeRateLimiter(
  name: string,
  make: (policy: RateLimitPolicy, now: () => number) => RateLimiter,
): void {
  describe(`rate limiter: ${name}`, () => {
    let nowMs: number
    let limiter: RateLimiter
    let key: string
    beforeEach(() => {
      nowMs = 1_800_000_000_000
      limiter = make(POLICY, () => nowMs)
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

    it('does not count what it refuses', async () => {
      for (let i = 0; i < 10; i++) await take()
      nowMs += 100
      expect((await take()).isAllowed).toBe(true)
      expect((await take()).isAllowed).toBe(false)
    })

    it('gives a quiet key its whole burst back, and no more', async () => {
      for (let i = 0; i < 3; i++) await take()
      nowMs += 86_400_000
      const allowed = [await take(), await take(), await take(), await take()].map(({ isAllowed }) => isAllowed)
      expect(allowed).toEqual([true, true, true, false])
    })

    it('counts simultaneous requests one by one', async () => {
      const decisions = await Promise.all(Array.from({ length: 12 }, take))
      expect(decisions.filter(({ isAllowed }) => isAllowed)).toHaveLength(3)
    })

    it('keeps keys apart', async () => {
      for (let i = 0; i < 4; i++) await take()
      for (let i = 0; i < 20; i++) await beginWait()
      expect((await limiter.take(`${key}-other`, signal)).isAllowed).toBe(true)
      expect(await limiter.beginWait(`${key}-other`, 1, signal)).toHaveProperty('end')
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
      const [late, ...others] = [
        await beginWait(1),
        ...(await Promise.all(Array.from({ length: 19 }, () => beginWait()))),
      ]
      nowMs += 3
      expect(await beginWait()).not.toSatisfy(isRefused)
      for (const wait of [late, others[0], others[0]]) if (wait && 'end' in wait) await wait.end(signal)
      expect((await Promise.all([beginWait(), beginWait()])).filter(isRefused)).toHaveLength(1)
    })
  })
}
