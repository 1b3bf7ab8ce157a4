import { asRatio, atMost, type Bench, shown } from '../bench.ts'
import { lambdaEnvironment, withBundles } from '../bundles.ts'
import type { SeenCall } from '../simulator/main.ts'
import { AWS } from '../simulator/model.ts'
import { startSimulator } from '../simulator/start.ts'
import { median, percentile } from '../statistics.ts'
import { startWorker } from '../worker.ts'
import type { HandlerMethods } from '../workers/handler.ts'

const BAR = 1.05
const SIZE_BYTES = 1024 ** 2
const CLIENTS = [1, 2, 4, 8, 16, 32]
/** The calls of a plain promotion; those in one line run beside each other. */
const STEPS = [
  ['keys.find'],
  ['HeadObject', 'rateLimit.take'],
  ['ledger.reserve'],
  ['CopyObject'],
  ['documents.record'],
  ['ledger.settle'],
]

/** Whole promotions of 1 MiB on the simulated AWS, against the sum of the very delays drawn for them. */
export const latency: Bench = {
  name: 'latency',
  title: 'Latency under simulated AWS, against the critical path',
  run: ({ isQuick, progress }) =>
    withBundles(async ({ product }) => {
      const simulator = await startSimulator(AWS)
      const env = lambdaEnvironment(simulator.endpoint)
      const worker = await startWorker<HandlerMethods>('workers/handler.ts', { args: [product], env })
      await worker.call('load', undefined)
      const each = { sizeBytes: SIZE_BYTES, atOnce: 1 }
      await worker.call('run', { ...each, count: isQuick ? 1 : 1000, atOnce: 20 })
      const count = isQuick ? 10 : 500
      progress(`${count} promotions, one after the other`)
      await simulator.call('watch', undefined)
      const { latenciesMs } = await worker.call('run', { ...each, count })
      const seen = await simulator.call('seen', undefined)
      const criticalMs = criticalPaths(seen.calls)
      const byClients = []
      for (const atOnce of CLIENTS) {
        progress(`${atOnce} at the same time`)
        const run = await worker.call('run', { ...each, count: isQuick ? atOnce : 40 * atOnce, atOnce })
        byClients.push({ atOnce, p50Ms: median(run.latenciesMs), p99Ms: percentile(run.latenciesMs, 0.99) })
      }
      await worker.stop()
      await simulator.stop()

      const compare = (part: number) => {
        const [own, critical] = [percentile(latenciesMs, part), percentile(criticalMs, part)]
        return { ratio: own / critical, remark: ` (${own.toFixed(1)} ms and ${critical.toFixed(1)} ms)` }
      }
      const [p50, p99] = [compare(0.5), compare(0.99)]
      const ownMs = latenciesMs.map((took, index) => took - (criticalMs[index] ?? 0))
      return {
        rows: [
          atMost('latency of its critical path, p50', BAR, p50.ratio, asRatio, p50.remark),
          atMost('latency of its critical path, p99', BAR, p99.ratio, asRatio, p99.remark),
          shown('beyond the critical path, p50', `${median(ownMs).toFixed(2)} ms`),
        ],
        figures: {
          promotions: count,
          p50Ms: median(latenciesMs),
          criticalP50Ms: median(criticalMs),
          p99Ms: percentile(latenciesMs, 0.99),
          criticalP99Ms: percentile(criticalMs, 0.99),
          beyondP50Ms: median(ownMs),
          byClients,
        },
        plots: [
          {
            file: 'latency-by-concurrency',
            title: 'Promotions of 1 MiB in one process, under simulated AWS',
            x: 'promotions at the same time',
            y: 'ms',
            kind: 'lines',
            isLogarithmic: true,
            series: [
              { name: 'p50', points: byClients.map(({ atOnce: x, p50Ms: y }) => ({ x, y })) },
              { name: 'p99', points: byClients.map(({ atOnce: x, p99Ms: y }) => ({ x, y })) },
              { name: 'critical path, p50', points: CLIENTS.map((x) => ({ x, y: median(criticalMs) })) },
            ],
          },
        ],
      }
    }),
}

/** Of promotions that came one after the other: each begins with its key. */
function criticalPaths(calls: readonly SeenCall[]): number[] {
  const delays: Map<string, number>[] = []
  for (const { name, delayMs } of calls) {
    if (name === 'keys.find') delays.push(new Map())
    delays.at(-1)?.set(name, delayMs)
  }
  return delays.map((byName) => {
    if (byName.size !== STEPS.flat().length) throw new Error(`not the plain promotion: ${[...byName.keys()]}`)
    return STEPS.reduce((total, names) => total + Math.max(...names.map((name) => byName.get(name) ?? 0)), 0)
  })
}
