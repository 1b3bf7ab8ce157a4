import fc from 'fast-check'
import { expect, it } from 'vitest'
import { countInProcess } from '../../../lib/auth/rate-limit.ts'
import { createFakeRateLimiter } from '../../support/fakes/rate-limiter.ts'

const { signal } = new AbortController()
const policy = { requestsPerMinute: 600, burst: 3 }

it('several processes that count allow what the store alone would, and ask it for nothing that they know', async () => {
  const requests = fc.array(fc.record({ process: fc.nat(2), afterMs: fc.constantFrom(0, 1, 40, 100, 400) }))
  await fc.assert(
    fc.asyncProperty(requests, async (all) => {
      let nowMs = 0
      const now = () => nowMs
      const [alone, shared] = [createFakeRateLimiter(policy, now), createFakeRateLimiter(policy, now)]
      const processes = Array.from({ length: 3 }, () => countInProcess(shared, now))
      for (const { process, afterMs } of all) {
        nowMs += afterMs
        const counting = processes[process] ?? expect.fail()
        const { isAllowed } = counting.refusalOf('k') ?? (await counting.take('k', signal))
        expect(isAllowed).toBe((await alone.take('k', signal)).isAllowed)
        // Refused once, a process knows until when.
        if (!isAllowed) expect(counting.refusalOf('k')).toMatchObject({ isAllowed, remaining: 0 })
      }
    }),
  )
})
