import { asRatio, atMost, type Bench, type Row } from '../bench.ts'
import { lambdaEnvironment, withBundles } from '../bundles.ts'
import { MEASURED, operationEvent } from '../operations.ts'
import { ZERO_LATENCY } from '../simulator/model.ts'
import { startSimulator } from '../simulator/start.ts'
import { median, sum } from '../statistics.ts'
import { startWorker } from '../worker.ts'
import type { HandlerMethods, Measured } from '../workers/handler.ts'

const BAR = 1.2
const WAYS = ['product', 'bare'] as const

/** Each operation as it ships and its bare SDK calls take turns, in processes of their own, on backends that cost nothing. */
export const operationTime: Bench = {
  name: 'operation-time',
  title: 'Own time of the operations on documents, against the bare SDK calls',
  run: ({ isQuick, progress }) =>
    withBundles(async ({ functions, bareOperations }) => {
      const [rounds, perRound] = isQuick ? [2, 20] : [16, 100]
      const simulator = await startSimulator(ZERO_LATENCY)
      const env = lambdaEnvironment(simulator.endpoint)
      const start = (bundle = '') => startWorker<HandlerMethods>('workers/handler.ts', { args: [bundle], env })
      const rows: Row[] = []
      const figures: Record<string, unknown> = {}
      for (const { name, title, functionName } of MEASURED) {
        progress(name)
        const workers = { product: await start(functions[functionName]), bare: await start(bareOperations) }
        const event = operationEvent(name)
        const turn = { event, count: perRound, concurrency: 1 }
        for (const worker of Object.values(workers)) {
          await worker.call('load', event)
          for (let warmUp = 0; warmUp < (isQuick ? 1 : 10); warmUp++) await worker.call('run', turn)
        }
        const measured: Record<(typeof WAYS)[number], Measured[]> = { product: [], bare: [] }
        for (let round = 0; round < rounds; round++) {
          for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed()) {
            measured[way].push(await workers[way].call('run', turn))
          }
        }
        for (const worker of Object.values(workers)) await worker.stop()
        const [own, base] = [summarize(measured.product), summarize(measured.bare)]
        const both = `${own.p50Ms.toFixed(2)} ms and ${base.p50Ms.toFixed(2)} ms`
        const remark = ` (${both}; CPU time ${asRatio(own.cpuMs / base.cpuMs)})`
        rows.push(atMost(`own time of ${title}, p50`, BAR, own.p50Ms / base.p50Ms, asRatio, remark))
        figures[name] = { requests: rounds * perRound, product: own, bare: base }
      }
      await simulator.stop()
      return { rows, figures }
    }),
}

function summarize(turns: readonly Measured[]) {
  const latencies = turns.flatMap(({ latenciesMs }) => latenciesMs)
  return { p50Ms: median(latencies), cpuMs: sum(turns.map(({ cpuMs }) => cpuMs)) / latencies.length }
}
