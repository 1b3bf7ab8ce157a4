import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startContentionSimulator } from '../../bench/simulator/start.ts'
import { DYNAMODB_LIMITS } from '../../support/dynamodb/throughput.ts'

/** A fraction of DynamoDB's limits, so that few requests do for many; `npm run bench -- contention` uses the whole. */
const LIMITS = { ...DYNAMODB_LIMITS, writeUnitsPerSecond: 50 }
/** These limits sustain so many promotions: each takes two writes of the ledger. */
const PER_SECOND = 22

/** The real function in many processes, on a clock of its own: however slow this machine is, the outcome is the same. */
let simulator: Awaited<ReturnType<typeof startContentionSimulator>>

beforeAll(async () => {
  simulator = await startContentionSimulator()
})
afterAll(() => simulator.stop())

describe('a workspace whose item takes no more writes', { timeout: 300_000 }, () => {
  it('lets promotions wait that come at once: all succeed, and nothing is left to a lease', async () => {
    const found = await simulator.call('burst', { count: 50, copySeconds: 1, limits: LIMITS })
    expect(found.answers).toEqual({ 200: 50 })
    expect(found.ledger.throttled).toBeGreaterThan(0)
    expect(found.ledger.largestWrite).toBe(1)
    expect(found.leftOpen).toBe(0)
  })

  it('refuses the excess early, goes on working meanwhile, and recovers at once', async () => {
    const found = await simulator.call('overload', {
      perSecond: PER_SECOND,
      copySeconds: 1,
      seconds: 4,
      secondsAfter: 16,
      limits: LIMITS,
    })
    expect(Object.keys(found.answers)).toEqual(['200', '429 too_many_promotions'])
    expect(found.goodputUnderLoad).toBeGreaterThan(0.3 * PER_SECOND)
    expect(found.goodputAfter).toBeGreaterThan(0.9 * found.offeredAfter)
    expect(found.leftOpen).toBe(0)
  })
})
