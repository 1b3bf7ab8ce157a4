import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpHandlerOptions } from '@smithy/types'
import { fromWire, type Transport, toWire } from '../../support/aws/in-process.ts'
import type { Store } from '../../support/aws/store.ts'
import { createRandom } from '../statistics.ts'

/** Keeps a processor busy for so many ms. */
export type Compute = (cpuMs: number, signal: HttpHandlerOptions['abortSignal']) => Promise<void>

/**
 * Time of a whole processor: what the adapters and the SDK take for one call (3.85 ms for the nine of a promotion,
 * handler and log among them), and for each KB of a long answer.
 */
const CPU_MS = { call: 0.43, answerKb: 0.06 }

/**
 * Options of a client of the SDK whose network and store are in this process. A request takes half of the latency to
 * arrive, and its answer the other half.
 *
 * @param latencyMs of one call, there and back; omitted: none
 * @param compute the processor that does the work of the calls; omitted: it costs nothing
 */
export function inProcessOptions(store: Store, latencyMs = () => 0, compute?: Compute) {
  const requestHandler: Transport = {
    async handle(request, { abortSignal } = {}) {
      const wayMs = latencyMs() / 2
      if (compute) await compute(CPU_MS.call, abortSignal)
      await waitUnlessAborted(wayMs, abortSignal)
      const answer = await store(toWire(request))
      await waitUnlessAborted(wayMs, abortSignal)
      if (compute) await compute((answer.body.length / 1024) * CPU_MS.answerKb, abortSignal)
      return { response: fromWire(answer, request.method) }
    },
  }
  return {
    region: 'us-east-1',
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
    endpoint: 'http://in-process',
    forcePathStyle: true,
    // Signing would take longer than all the rest, and nobody checks signatures here.
    signer: { sign: async (request: unknown) => request },
    requestHandler,
  } as never
}

/** A log-normal distribution, as latencies of services roughly have it. In milliseconds. */
interface Latency {
  p50: number
  p99: number
}

/** 1 % of a normal distribution lies more than 2.326 standard deviations above the median. */
const Z_99 = 2.326

/** Draws how long a call of a service takes, in milliseconds. */
export function createLatencies(of: Record<'dynamoDb' | 's3', Latency>, seed: number) {
  const random = createRandom(seed)
  return (service: keyof typeof of): number => {
    const { p50, p99 } = of[service]
    // Box–Muller.
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    return p50 * Math.exp((Math.log(p99 / p50) / Z_99) * normal)
  }
}

/** Waits, unless there is no delay. If the call is aborted meanwhile, rejects as the SDK's own handler does. */
export async function waitUnlessAborted(delayMs: number, signal: HttpHandlerOptions['abortSignal']): Promise<void> {
  if (delayMs > 0) await sleep(delayMs, undefined, { signal: signal as AbortSignal })
}
