import fc from 'fast-check'
import { expect, it } from 'vitest'
import { countInProcess } from '../../../lib/auth/rate-limit.ts'
import { assertProperty } from '../../support/assert-property.ts'
import { createLimiter } from '../../support/stores/keys-and-limits.ts'

it('processes that count allow what the store alone would, and need not ask it about what it refused', async () => {
  const requests = fc.array(fc.tuple(fc.nat(2), fc.constantFrom(0, 1, 40, 100, 400)))
  const oneRun = async (all: [process: number, afterMs: number][]) => {
    let nowMs = 0
    const newLimiter = () => createLimiter({ requestsPerMinute: 600, burst: 3 }, () => nowMs)
    const [alone, shared] = [newLimiter(), newLimiter()]
    const processes = Array.from({ length: 3 }, () => countInProcess(() => nowMs)(shared))
    const { signal } = new AbortController()
    for (const [process, afterMs] of all) {
      nowMs += afterMs
      const counting = processes[process] ?? expect.fail()
      const { isAllowed } = counting.refusalOf('k') ?? (await counting.take('k', signal))
      expect(isAllowed).toBe((await alone.take('k', signal)).isAllowed)
      if (!isAllowed) expect(counting.refusalOf('k')).toMatchObject({ isAllowed, remaining: 0 })
    }
  }
  await assertProperty(fc.asyncProperty(requests, oneRun))
})

it('a request that the store refuses counts nowhere', async () => {
  let nowMs = 0
  const told = [
    { isAllowed: true, resetMs: 4000 },
    { isAllowed: false, resetMs: 4100 },
  ]
  const take = async () => ({ remaining: 0, retryAfterMs: 0, ...(told.shift() ?? expect.fail()) })
  const counting = countInProcess(() => nowMs)({ policy: { requestsPerMinute: 60, burst: 5 }, take })
  for (let requests = 0; requests < 2; requests++) await counting.take('k', new AbortController().signal)
  expect(counting.refusalOf('k')).toMatchObject({ retryAfterMs: 100 })
  nowMs = 100
  expect(counting.refusalOf('k')).toBeUndefined()
})

it('a process remembers ten thousand keys at most', async () => {
  const refusal = { isAllowed: false, remaining: 0, resetMs: 60_000, retryAfterMs: 60_000 }
  const policy = { requestsPerMinute: 1, burst: 1 }
  const counting = countInProcess(() => 0)({ policy, take: async () => refusal })
  const { signal } = new AbortController()
  await counting.take('first', signal)
  expect(counting.refusalOf('first')).toBeDefined()
  for (let key = 0; key < 10_000; key++) await counting.take(`key_${key}`, signal)
  expect(counting.refusalOf('first')).toBeUndefined()
})
