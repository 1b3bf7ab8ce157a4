import fc from 'fast-check'
import { expect, it } from 'vitest'
import { countInProcess } from '../../../lib/auth/rate-limit.ts'
import { createFakeRateLimiter } from '../../support/fakes/rate-limiter.ts'

it('processes that count allow what the store alone would, and need not ask it about what it refused', async () => {
  const requests = fc.array(fc.tuple(fc.nat(2), fc.constantFrom(0, 1, 40, 100, 400)))
  const oneRun = async (all: [process: number, afterMs: number][]) => {
    let nowMs = 0
    const newLimiter = () => createFakeRateLimiter({ requestsPerMinute: 600, burst: 3 }, () => nowMs)
    const [alone, shared] = [newLimiter(), newLimiter()]
    const processes = Array.from({ length: 3 }, () => countInProcess(shared, () => nowMs))
    const { signal } = new AbortController()
    for (const [process, afterMs] of all) {
      nowMs += afterMs
      const counting = processes[process] ?? expect.fail()
      const { isAllowed } = counting.refusalOf('k') ?? (await counting.take('k', signal))
      expect(isAllowed).toBe((await alone.take('k', signal)).isAllowed)
      if (!isAllowed) expect(counting.refusalOf('k')).toMatchObject({ isAllowed, remaining: 0 })
    }
  }
  await fc.assert(fc.asyncProperty(requests, oneRun))
})
