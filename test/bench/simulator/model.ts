import { createRandom } from '../statistics.ts'

const MIB = 1024 ** 2

/** A log-normal distribution, as latencies of services roughly have it. In milliseconds. */
export interface Latency {
  p50: number
  p99: number
}

/** A model of AWS. Every number is an assumption; docs/performance.md says where it comes from. */
export interface Model {
  /**
   * The time until the first byte of the answer, by name of the call (test/support/protocol/fault-proxy.ts); `default`
   * is for all others.
   */
  latency: Record<string, Latency> & { default: Latency }
  /** How fast S3 copies in one request. Infinity: no time at all. */
  streamBytesPerSecond: number
  seed: number
}

const NOTHING = { p50: 0, p99: 0 }
/** Backends that cost nothing: what is left is our own time. */
export const ZERO_LATENCY: Model = {
  latency: { default: NOTHING },
  streamBytesPerSecond: Number.POSITIVE_INFINITY,
  seed: 1,
}

/** The S3 of the copy benches: 25 ms for each request, 70 MiB/s in each stream. */
export const COPYING_S3: Model = {
  ...ZERO_LATENCY,
  latency: { default: { p50: 25, p99: 25 } },
  streamBytesPerSecond: 70 * MIB,
}

/** 1 % of a normal distribution lies more than 2.326 standard deviations above the median. */
const Z_99 = 2.326

/** Draws the time a call takes, in milliseconds. */
export function createDelays(model: Model): (name: string, bytes: number) => number {
  const random = createRandom(model.seed)
  return (name, bytes) => {
    const { p50, p99 } = model.latency[name] ?? model.latency.default
    const sigma = p50 === 0 ? 0 : Math.log(p99 / p50) / Z_99
    const latencyMs = p50 * Math.exp(sigma * normal(random))
    return latencyMs + (bytes / model.streamBytesPerSecond) * 1000
  }
}

/** A normally distributed number (Box–Muller). */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
