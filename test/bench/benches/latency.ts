import { asRatio, atMost, type Bench, type Row, shown } from '../bench.ts'
import { HTTP_REQUESTS, lambdaEnvironment, promoteEvent, withBundles } from '../bundles.ts'
import type { SeenCall } from '../simulator/main.ts'
import { AWS } from '../simulator/model.ts'
import { type Simulator, startSimulator } from '../simulator/start.ts'
import { median, percentile, sum } from '../statistics.ts'
import { startWorker, type Worker } from '../worker.ts'
import type { HandlerMethods } from '../workers/handler.ts'

const BAR = 1.05
const SIZE_BYTES = 1024 ** 2
const CLIENTS = [1, 2, 4, 8, 16, 32]
/** The calls of a plain promotion, each with those that it waits for. */
const WAITS_FOR: Readonly<Record<string, readonly string[]>> = {
  'keys.find': [],
  HeadObject: ['keys.find'],
  'rateLimit.take': ['keys.find'],
  'ledger.take': ['HeadObject', 'rateLimit.take'],
  CopyObject: ['ledger.take'],
  'reservations.open': ['ledger.take'],
  'ledger.unmark': ['reservations.open'],
  'documents.record': ['CopyObject', 'reservations.open'],
  'reservations.remove': ['documents.record', 'ledger.unmark'],
}

/** Whole promotions of 1 MiB on the simulated AWS, against the sum of the very times their calls took there. */
export const latency: Bench = {
  name: 'latency',
  title: 'Latency under simulated AWS, against the critical path',
  run: ({ isQuick, progress }) =>
    withBundles(async ({ product, bare }) => {
      const simulator = await startSimulator(AWS)
      const env = lambdaEnvironment(simulator.endpoint)
      const start = (bundle: string) => startWorker<HandlerMethods>('workers/handler.ts', { args: [bundle], env })
      const workers = { promotion: await start(product), bare: await start(bare), http: await start(HTTP_REQUESTS) }
      const each = { event: promoteEvent(SIZE_BYTES), concurrency: 1 }
      for (const worker of Object.values(workers)) {
        await worker.call('load', each.event)
        await worker.call('run', { ...each, count: isQuick ? 1 : 1000, concurrency: 20 })
      }
      const [rounds, perRound] = isQuick ? [1, 10] : [5, 100]
      const measured = { promotion: nothingMeasured(), bare: nothingMeasured(), http: nothingMeasured() }
      for (let round = 0; round < rounds; round++) {
        progress(`round ${round + 1} of ${rounds}, one promotion after the other`)
        for (const name of ['promotion', 'bare', 'http'] as const) {
          await measure(measured[name], workers[name], simulator, { ...each, count: perRound })
        }
      }
      const byClients = []
      for (const concurrency of CLIENTS) {
        progress(`${concurrency} at the same time`)
        const run = await workers.promotion.call('run', {
          ...each,
          count: isQuick ? concurrency : 40 * concurrency,
          concurrency,
        })
        byClients.push({ concurrency, p50Ms: median(run.latenciesMs), p99Ms: percentile(run.latenciesMs, 0.99) })
      }
      for (const started of [...Object.values(workers), simulator]) await started.stop()

      const { promotion, ...references } = measured
      const criticalP50Ms = median(promotion.criticalMs)
      return {
        rows: [
          ...[0.5, 0.99].map((part) => {
            const [own, critical] = [percentile(promotion.tookMs, part), percentile(promotion.criticalMs, part)]
            const remark = ` (${own.toFixed(1)} ms and ${critical.toFixed(1)} ms)`
            return atMost(`latency of its critical path, p${part * 100}`, BAR, own / critical, asRatio, remark)
          }),
          shown(
            'beyond it, p50 and p99',
            `${beyondMs(promotion).toFixed(1)} ms and ${beyondMs(promotion, 0.99).toFixed(1)} ms`,
          ),
          beyond('bare SDK calls', references.bare),
          beyond('plain HTTP requests', references.http),
        ],
        figures: {
          promotions: rounds * perRound,
          meanMs: sum(promotion.tookMs) / promotion.tookMs.length,
          p50Ms: median(promotion.tookMs),
          criticalP50Ms,
          p99Ms: percentile(promotion.tookMs, 0.99),
          criticalP99Ms: percentile(promotion.criticalMs, 0.99),
          beyondP50Ms: {
            promotion: beyondMs(promotion),
            bare: beyondMs(references.bare),
            http: beyondMs(references.http),
          },
          byClients,
        },
        plots: [
          {
            file: 'latency-by-concurrency',
            title: 'Promotions of 1 MiB in one process, under simulated AWS',
            x: 'promotions at the same time',
            y: 'ms',
            kind: 'lines',
            logarithmic: 'both',
            series: [
              { name: 'p50', points: byClients.map(({ concurrency: x, p50Ms: y }) => ({ x, y })) },
              { name: 'p99', points: byClients.map(({ concurrency: x, p99Ms: y }) => ({ x, y })) },
              { name: 'critical path, p50', points: CLIENTS.map((x) => ({ x, y: criticalP50Ms })) },
            ],
          },
        ],
      }
    }),
}

interface Latencies {
  tookMs: number[]
  criticalMs: number[]
}
const nothingMeasured = (): Latencies => ({ tookMs: [], criticalMs: [] })

async function measure(
  latencies: Latencies,
  worker: Worker<HandlerMethods>,
  simulator: Simulator,
  run: Parameters<HandlerMethods['run']>[0],
): Promise<void> {
  await simulator.call('watch', undefined)
  latencies.tookMs.push(...(await worker.call('run', run)).latenciesMs)
  latencies.criticalMs.push(...criticalPaths((await simulator.call('seen', undefined)).calls))
}

function beyond(what: string, latencies: Latencies): Row {
  const ratio = median(latencies.tookMs) / median(latencies.criticalMs)
  return shown(`the same of the ${what}`, `${beyondMs(latencies).toFixed(1)} ms, ${asRatio(ratio)} of theirs`)
}

function beyondMs({ tookMs, criticalMs }: Latencies, part = 0.5): number {
  const differencesMs = tookMs.map((took, index) => took - (criticalMs[index] ?? 0))
  return percentile(differencesMs, part)
}

/** Of promotions that came one after the other: each begins with its key. */
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
