import { asRatio, atMost, type Bench, shown } from '../bench.ts'
import { lambdaEnvironment, promoteEvent, UNLIMITED, withBundles } from '../bundles.ts'
import type { SeenCall } from '../simulator/main.ts'
import { AWS } from '../simulator/model.ts'
import { startSimulator } from '../simulator/start.ts'
import { median, percentile, sum } from '../statistics.ts'
import { startWorker } from '../worker.ts'
import type { HandlerMethods } from '../workers/handler.ts'

const BAR = 1.05
const SIZE_BYTES = 1024 ** 2
/** The calls of a plain promotion, each with those that it waits for. */
const WAITS_FOR: Readonly<Record<string, readonly string[]>> = {
  'keys.find': [],
  HeadObject: ['keys.find'],
  'rateLimit.take': ['keys.find'],
  'ledger.take': ['HeadObject', 'rateLimit.take'],
  CopyObject: ['ledger.take'],
  'reservations.reserve': ['ledger.take'],
  'ledger.unmark': ['reservations.reserve'],
  'documents.record': ['CopyObject', 'reservations.reserve'],
  'reservations.remove': ['documents.record', 'ledger.unmark'],
}

/** Whole promotions of 1 MiB on the simulated AWS, against the sum of the very times their calls took there. */
export const latency: Bench = {
  name: 'latency',
  title: 'Latency under simulated AWS, against the critical path',
  run: ({ isQuick, progress }) =>
    withBundles(async ({ product }) => {
      const simulator = await startSimulator(AWS)
      const env = { ...lambdaEnvironment(simulator.endpoint), ...UNLIMITED }
      const worker = await startWorker<HandlerMethods>('workers/handler.ts', { args: [product], env })
      const each = { event: promoteEvent(SIZE_BYTES), concurrency: 1 }
      await worker.call('load', each.event)
      await worker.call('run', { ...each, count: isQuick ? 1 : 1000, concurrency: 20 })
      progress('one promotion after the other')
      await simulator.call('watch', undefined)
      const count = isQuick ? 10 : 500
      const { latenciesMs: tookMs } = await worker.call('run', { ...each, count })
      const criticalMs = criticalPaths((await simulator.call('seen', undefined)).calls)
      for (const started of [worker, simulator]) await started.stop()

      const beyondMs = tookMs.map((took, index) => took - (criticalMs[index] ?? 0))
      return {
        rows: [
          ...[0.5, 0.99].map((part) => {
            const [own, critical] = [percentile(tookMs, part), percentile(criticalMs, part)]
            const remark = ` (${own.toFixed(1)} ms and ${critical.toFixed(1)} ms)`
            return atMost(`latency of its critical path, p${part * 100}`, BAR, own / critical, asRatio, remark)
          }),
          shown(
            'beyond it, p50 and p99',
            `${median(beyondMs).toFixed(1)} ms and ${percentile(beyondMs, 0.99).toFixed(1)} ms`,
          ),
        ],
        figures: {
          promotions: count,
          meanMs: sum(tookMs) / tookMs.length,
          p50Ms: median(tookMs),
          p99Ms: percentile(tookMs, 0.99),
          criticalP50Ms: median(criticalMs),
          criticalP99Ms: percentile(criticalMs, 0.99),
        },
      }
    }),
}

/** The critical paths of promotions that came one after the other: each begins with its key. */
function criticalPaths(calls: readonly SeenCall[]): number[] {
  const promotions: SeenCall[][] = []
  for (const call of calls) {
    if (call.name === 'keys.find') promotions.push([])
    promotions.at(-1)?.push(call)
  }
  return promotions.map((promotion) => {
    const names = promotion.map(({ name }) => name)
    if (names.toSorted().join() !== Object.keys(WAITS_FOR).toSorted().join()) {
      throw new Error(`not the plain promotion: ${names}`)
    }
    const delayOf = (name: string) => promotion.find((call) => call.name === name)?.delayMs ?? 0
    const endOf = (name: string): number => Math.max(0, ...(WAITS_FOR[name] ?? []).map(endOf)) + delayOf(name)
    return endOf('reservations.remove')
  })
}
