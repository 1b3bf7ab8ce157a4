import { asRatio, atMost, type Bench, shown } from '../bench.ts'
import { lambdaEnvironment, promoteEvent, withBundles } from '../bundles.ts'
import { ZERO_LATENCY } from '../simulator/model.ts'
import { startSimulator } from '../simulator/start.ts'
import { median, percentile, sum } from '../statistics.ts'
import { startWorker } from '../worker.ts'
import type { HandlerMethods, Measured } from '../workers/handler.ts'

const P50_BAR = 1.15
const P99_BAR = 1.3

const WAYS = ['promotion', 'bare', 'tuned'] as const
type Way = (typeof WAYS)[number]

/**
 * The promotion as it ships, the bare SDK calls, and these with the clients configured as the promotion's, take turns, in
 * processes of their own, on backends that cost nothing.
 */
export const ownTime: Bench = {
  name: 'own-time',
  title: 'Own time of a warm promotion, against the bare SDK calls',
  run: ({ isQuick, progress }) =>
    withBundles(async ({ product, bare }) => {
      const [rounds, perRound] = isQuick ? [2, 20] : [20, 200]
      const simulator = await startSimulator(ZERO_LATENCY)
      const env = lambdaEnvironment(simulator.endpoint)
      const start = (bundle: string, more: Record<string, string> = {}) =>
        startWorker<HandlerMethods>('workers/handler.ts', { args: [bundle], env: { ...env, ...more } })
      const workers = {
        promotion: await start(product),
        bare: await start(bare),
        tuned: await start(bare, { BENCH_CLIENTS: 'tuned' }),
      }
      const measured: Record<Way, Measured[]> = { promotion: [], bare: [], tuned: [] }
      const event = promoteEvent(1)
      const turn = { event, count: perRound, concurrency: 1 }
      for (const worker of Object.values(workers)) {
        await worker.call('load', event)
        for (let warmUp = 0; warmUp < (isQuick ? 1 : 10); warmUp++) await worker.call('run', turn)
      }
      for (let round = 0; round < rounds; round++) {
        progress(`round ${round + 1} of ${rounds}`)
        // Each of them goes first as often as last.
        for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed()) {
          measured[way].push(await workers[way].call('run', turn))
        }
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
      const tuned = figuresOf(measured.tuned)
      const both = (key: keyof typeof own) => `${own[key].toFixed(2)} ms and ${base[key].toFixed(2)} ms`
      const p50Ratios = measured.promotion.map(({ latenciesMs }, round) => {
        return median(latenciesMs) / median(measured.bare[round]?.latenciesMs ?? [])
      })
      const middle = [0.25, 0.75].map((part) => asRatio(percentile(p50Ratios, part))).join(' to ')
      return {
        rows: [
          atMost(
            'own time, p50',
            P50_BAR,
            own.p50Ms / base.p50Ms,
            asRatio,
            ` (${both('p50Ms')}; middle half of ${rounds} rounds ${middle})`,
          ),
          atMost('own time, p99', P99_BAR, own.p99Ms / base.p99Ms, asRatio, ` (${both('p99Ms')})`),
          shown('own CPU time', `${asRatio(own.cpuMs / base.cpuMs)} (${both('cpuMs')})`),
          shown('own time, p50, if the bare calls used our clients', asRatio(own.p50Ms / tuned.p50Ms)),
        ],
        figures: { promotions: rounds * perRound, promotion: own, bare: base, tuned, p50Ratios },
      }
    }),
}
