import { readServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import type { Bench, BenchContext } from '../bench.ts'
import { lambdaEnvironment, UNLIMITED } from '../bundles.ts'
import { burstRow, type Found, overloadRows, SUSTAINED_BAR, sustainedRow } from '../contention/rows.ts'
import { startWorker, type Worker } from '../worker.ts'
import type { ContentionSimulatorMethods } from '../workers/contention-simulator.ts'

const COPY_SECONDS = [1, 20]
/** Promotions a second, tried one after the other until one rate is sustained. */
const RATES = [490, SUSTAINED_BAR, 200, 50]
const BURST = { count: 1000, copySeconds: 1 }
/** Enough for the longest call on a slow machine: 15 seconds of 1,500 requests a second. */
const CALL_LIMIT_MS = 3_600_000
/** Nothing that limits one key or one workspace may stand in the way. */
const ALL_FIT = { ...UNLIMITED, DEFAULT_QUOTA_BYTES: `${2 ** 50}` }

/**
 * One workspace under DynamoDB's own limits of 1,000 write units a second and item. The handler, the use case, the adapters
 * and the SDK's clients are the real ones; it runs on a virtual clock, in as many processes as Lambda would start.
 */
export const contention: Bench = {
  name: 'contention',
  title: 'One busy workspace, under the limits of DynamoDB',
  async run(context) {
    const env = { ...lambdaEnvironment('http://unused'), ...readServiceDefinition().environment, ...ALL_FIT }
    const options = { env, callLimitMs: CALL_LIMIT_MS }
    const simulator = await startWorker<ContentionSimulatorMethods>('workers/contention-simulator.ts', options)
    const found = await simulateAll(simulator, context)
    await simulator.stop()
    return [
      ...COPY_SECONDS.map((copySeconds) => sustainedRow(copySeconds, found.sustained[copySeconds] ?? 0)),
      burstRow(BURST, found.burst),
      ...overloadRows(found.overload, found.perSecond),
    ]
  },
}

async function simulateAll(
  simulator: Worker<ContentionSimulatorMethods>,
  { isQuick, progress }: BenchContext,
): Promise<Found> {
  const highest = async (copySeconds: number): Promise<number> => {
    for (const perSecond of isQuick ? RATES.slice(-1) : RATES) {
      progress(`${perSecond} a second, copies of ${copySeconds} s`)
      const seconds = isQuick ? 1 : 12
      if (await simulator.call('sustains', { perSecond, copySeconds, seconds })) return perSecond
    }
    return 0
  }
  const sustained: Record<number, number> = {}
  for (const copySeconds of COPY_SECONDS) sustained[copySeconds] = await highest(copySeconds)
  const perSecond = Math.min(...Object.values(sustained))
  progress('at once')
  const burst = await simulator.call('burst', { ...BURST, count: isQuick ? 20 : BURST.count })
  progress('three times the rate')
  const [seconds, secondsAfter] = isQuick ? [2, 12] : [15, 25]
  const overload = await simulator.call('overload', { perSecond, copySeconds: 1, seconds, secondsAfter })
  return { sustained, perSecond, burst, overload: { ...overload, seconds } }
}
