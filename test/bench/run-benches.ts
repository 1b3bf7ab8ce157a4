import type { Bench, BenchResult } from './bench.ts'
import { calls } from './benches/calls.ts'
import { contention } from './benches/contention.ts'
import { copy } from './benches/copy.ts'
import { cost } from './benches/cost.ts'
import { firstRequest } from './benches/first-request.ts'
import { latency } from './benches/latency.ts'
import { load } from './benches/load.ts'
import { memory } from './benches/memory.ts'
import { ownTime } from './benches/own-time.ts'
import { simulatorCheck } from './benches/simulator.ts'
import { streamed } from './benches/streamed.ts'
import { zip } from './benches/zip.ts'

/** In the order of docs/performance.md; the cost needs the figures of others. */
export const BENCHES: readonly Bench[] = [
  load,
  zip,
  firstRequest,
  ownTime,
  calls,
  latency,
  simulatorCheck,
  copy,
  memory,
  streamed,
  contention,
  cost,
]

export interface Ran {
  bench: Bench
  result: BenchResult
}

/** @param progress is told what is going on, in a few words */
export async function runBenches(
  benches: readonly Bench[],
  { isQuick, progress }: { isQuick: boolean; progress(text: string): void },
): Promise<Ran[]> {
  const figures = new Map<string, Record<string, unknown>>()
  const ran: Ran[] = []
  for (const bench of benches) {
    progress(bench.name)
    const result = await bench.run({ isQuick, figures, progress: (text) => progress(`${bench.name}: ${text}`) })
    figures.set(bench.name, result.figures)
    ran.push({ bench, result })
  }
  return ran
}
