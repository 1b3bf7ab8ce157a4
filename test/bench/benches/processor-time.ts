import { asMs, asRatio, atMost, type Bench } from '../bench.ts'
import { buildOnce, lambdaEnvironment, promoteEvent, UNLIMITED } from '../bundles.ts'
import type { SeenCall } from '../simulator/main.ts'
import { startSimulator } from '../simulator/start.ts'
import { median } from '../statistics.ts'
import { startWorker } from '../worker.ts'
import type { BareCall } from '../workers/bare-handler.ts'
import type { HandlerMethods } from '../workers/handler.ts'

const BAR = 1.1
/** The calls of a plain promotion, each with those that it waits for. */
const WAITS_FOR: Readonly<Record<string, readonly string[]>> = {
  'keys.find': [],
  HeadObject: ['keys.find'],
  'rateLimit.take': ['keys.find'],
  'ledger.read': ['keys.find'],
  'documents.begin': ['HeadObject', 'ledger.read', 'rateLimit.take'],
  CopyObject: ['documents.begin'],
  'ledger.hold': ['CopyObject'],
  'documents.record': ['ledger.hold'],
  'ledger.capture': ['documents.record'],
}

/**
 * Warm promotions, and a bare handler that sends the very same calls in the same order by the SDK as it comes: in turns and
 * in small portions, so that whatever else the machine does slows both.
 */
export const processorTime: Bench = {
  name: 'processor-time',
  title: 'Processor time of a warm promotion, beside the bare SDK',
  async run({ isQuick, progress }) {
    const { product, bare } = await buildOnce()
    const simulator = await startSimulator()
    const env = { ...lambdaEnvironment(simulator.endpoint), ...UNLIMITED }
    const start = async (bundle: string, more = {}) => {
      const worker = await startWorker<HandlerMethods>('workers/handler.ts', {
        args: [bundle],
        env: { ...env, ...more },
      })
      await worker.call('load', event)
      return worker
    }
    /** On a machine that stands still for a moment, the product sends a read again: then the next request is taken. */
    const watch = async (worker: typeof own, tries = 3): Promise<SeenCall[]> => {
      await simulator.call('watch', undefined)
      await worker.call('run', { event, count: 1 })
      const { calls } = await simulator.call('seen', undefined)
      const isPlain = new Set(calls.map(({ name }) => name)).size === calls.length
      return isPlain || tries === 1 ? calls : watch(worker, tries - 1)
    }
    const event = promoteEvent(1)
    const own = await start(product)
    const calls = await watch(own)
    const bareSdk = await start(bare, { BARE_CALLS: JSON.stringify(calls.map(toBareCall)) })
    const bareCalls = await watch(bareSdk)
    const [one, other] = [calls, bareCalls].map((seen) =>
      seen
        .map(({ name, body }) => `${name} ${body}`)
        .toSorted()
        .join('\n'),
    )
    if (one !== other) throw new Error(`the bare handler sent other calls:\n${one}\n${other}`)

    const [count, warmUp, rounds] = isQuick ? [1, 1, 2] : [40, 1500, 50]
    for (const worker of [own, bareSdk]) await worker.call('run', { event, count: warmUp })
    const cpuMs: { own: number; bare: number }[] = []
    for (let round = 0; round < rounds; round++) {
      progress(`round ${round + 1} of ${rounds}`)
      cpuMs.push({
        own: await own.call('run', { event, count }),
        bare: await bareSdk.call('run', { event, count }),
      })
    }
    for (const started of [own, bareSdk, simulator]) await started.stop()
    const [ownMs, bareMs] = [median(cpuMs.map((each) => each.own)), median(cpuMs.map((each) => each.bare))]
    const ratio = median(cpuMs.map((each) => each.own / each.bare))
    return [atMost('processor time beside the bare SDK', BAR, ratio, asRatio, ` (${asMs(ownMs)} and ${asMs(bareMs)})`)]
  },
}

function toBareCall(call: SeenCall): BareCall {
  const waitsFor = WAITS_FOR[call.name]
  if (waitsFor === undefined) throw new Error(`not a plain promotion: ${call.name}`)
  return { ...call, waitsFor }
}
