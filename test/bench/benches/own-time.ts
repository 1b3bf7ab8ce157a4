import { asRatio, atMost, type Bench, shown } from '../bench.ts'
import { lambdaEnvironment, withBundles } from '../bundles.ts'
import { ZERO_LATENCY } from '../simulator/model.ts'
import { startSimulator } from '../simulator/start.ts'
import { median, percentile, sum } from '../statistics.ts'
import { startWorker } from '../worker.ts'
import type { HandlerMethods, Measured } from '../workers/handler.ts'

const P50_BAR = 1.15
const P99_BAR = 1.3

/** The promotion as it ships and the bare SDK calls take turns, in processes of their own, on backends that cost nothing. */
export const ownTime: Bench = {
  name: 'own-time',
  title: 'Own time of a warm promotion, against the bare SDK calls',
  run: ({ isQuick, progress }) =>
    withBundles(async ({ product, bare }) => {
      const [rounds, perRound] = isQuick ? [2, 20] : [20, 200]
      const simulator = await startSimulator(ZERO_LATENCY)
      const env = lambdaEnvironment(simulator.endpoint)
      const start = (bundle: string) => startWorker<HandlerMethods>('workers/handler.ts', { args: [bundle], env })
      const workers = { promotion: await start(product), bare: await start(bare) }
      const measured: Record<keyof typeof workers, Measured[]> = { promotion: [], bare: [] }
      const turn = { count: perRound, sizeBytes: 1, atOnce: 1 }
      for (const worker of Object.values(workers)) {
        await worker.call('load', undefined)
        for (let warmUp = 0; warmUp < (isQuick ? 1 : 10); warmUp++) await worker.call('run', turn)
      }
      for (let round = 0; round < rounds; round++) {
        progress(`round ${round + 1} of ${rounds}`)
        for (const name of ['promotion', 'bare'] as const) measured[name].push(await workers[name].call('run', turn))
      }
      for (const each of [...Object.values(workers), simulator]) await each.stop()

      const figuresOf = (turns: Measured[]) => {
        const latencies = turns.flatMap(({ latenciesMs }) => latenciesMs)
        return {
          p50Ms: median(latencies),
          p99Ms: percentile(latencies, 0.99),
          cpuMs: sum(turns.map(({ cpuMs }) => cpuMs)) / latencies.length,
        }
      }
      const own = figuresOf(measured.promotion)
      const base = figuresOf(measured.bare)
      const both = (key: keyof typeof own) => ` (${own[key].toFixed(2)} ms and ${base[key].toFixed(2)} ms)`
      return {
        rows: [
          atMost('own time, p50', P50_BAR, own.p50Ms / base.p50Ms, asRatio, both('p50Ms')),
          atMost('own time, p99', P99_BAR, own.p99Ms / base.p99Ms, asRatio, both('p99Ms')),
          shown('own CPU time', asRatio(own.cpuMs / base.cpuMs) + both('cpuMs')),
        ],
        figures: { promotions: rounds * perRound, promotion: own, bare: base },
      }
    }),
}
