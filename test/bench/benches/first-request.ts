import { asMs, asRatio, atMost, type Bench } from '../bench.ts'
import { buildOnce, lambdaEnvironment, promoteEvent } from '../bundles.ts'
import { startSimulator } from '../simulator/start.ts'
import { median } from '../statistics.ts'
import { startWorker } from '../worker.ts'
import type { HandlerMethods } from '../workers/handler.ts'

const BAR = 0.63

/** Load and first promotion in fresh processes, in turns, on backends that cost nothing. */
export const firstRequest: Bench = {
  name: 'first-request',
  title: 'First request in a fresh process',
  async run({ isQuick, progress }) {
    const { product, byDefault } = await buildOnce()
    const simulator = await startSimulator()
    const env = lambdaEnvironment(simulator.endpoint)
    const event = promoteEvent(1)
    const bundles = { product, default: byDefault }
    const firstMs: Record<keyof typeof bundles, number[]> = { product: [], default: [] }
    const count = isQuick ? 2 : 25
    for (let round = 0; round < count; round++) {
      progress(`round ${round + 1} of ${count}`)
      for (const name of ['product', 'default'] as const) {
        const worker = await startWorker<HandlerMethods>('workers/handler.ts', { args: [bundles[name]], env })
        firstMs[name].push(await worker.call('load', event))
        await worker.stop()
      }
    }
    await simulator.stop()
    const [own, base] = [median(firstMs.product), median(firstMs.default)]
    return [
      atMost('first request, of the default bundle', BAR, own / base, asRatio, ` (${asMs(own)} and ${asMs(base)})`),
    ]
  },
}
