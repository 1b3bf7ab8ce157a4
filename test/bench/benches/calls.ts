import { atMost, type Bench } from '../bench.ts'
import { lambdaEnvironment, promoteEvent, withBundles } from '../bundles.ts'
import type { SeenCall } from '../simulator/main.ts'
import { ZERO_LATENCY } from '../simulator/model.ts'
import { startSimulator } from '../simulator/start.ts'
import { startWorker } from '../worker.ts'
import type { HandlerMethods } from '../workers/handler.ts'

const DEPTH_BAR = 7
const CALLS_BAR = 9
/** Five writes; the entry of what is due comes and goes, that of the document in the listing index comes. */
const WRITE_UNITS_BAR = 5 + 3
/** Long enough that calls sent side by side overlap on a busy machine, too. */
const EACH_CALL_MS = 400

/** Counted on the wire. test/protocol/faults/call-budget.test.ts fails when a call is added. */
export const calls: Bench = {
  name: 'calls',
  title: 'AWS calls of a plain promotion, by a key at rest',
  isExact: true,
  run: () =>
    withBundles(async ({ product }) => {
      const everyCall = { default: { p50: EACH_CALL_MS, p99: EACH_CALL_MS } }
      const simulator = await startSimulator({ ...ZERO_LATENCY, latency: everyCall })
      const env = lambdaEnvironment(simulator.endpoint)
      const worker = await startWorker<HandlerMethods>('workers/handler.ts', { args: [product], env })
      const event = promoteEvent(1)
      await worker.call('load', event)
      await simulator.call('watch', undefined)
      await worker.call('run', { event, count: 1 })
      const { calls: seen } = await simulator.call('seen', undefined)
      await worker.stop()
      await simulator.stop()
      const names = seen.map(({ name }) => name)
      const writes = names.filter((name) => /^(rateLimit|documents|ledger)\.(?!read)/.test(name)).length
      const indexEntries = names.filter((name) => name === 'documents.begin').length * 3
      const writeUnits = writes + indexEntries
      return {
        rows: [
          atMost('calls one after the other', DEPTH_BAR, depthOf(seen), String),
          atMost('calls', CALLS_BAR, seen.length, String),
          atMost('DynamoDB write units', WRITE_UNITS_BAR, writeUnits, String),
        ],
        figures: { names, depth: depthOf(seen), writeUnits },
      }
    }),
}

/** Calls on the longest path: one call follows another if it started after the other had ended. */
function depthOf(seen: readonly SeenCall[]): number {
  const depths: number[] = []
  seen.forEach(({ arrivedMs }, index) => {
    const before = seen.slice(0, index).flatMap((other, at) => {
      return other.arrivedMs + other.delayMs <= arrivedMs ? [depths[at] ?? 0] : []
    })
    depths.push(1 + Math.max(0, ...before))
  })
  return Math.max(0, ...depths)
}
