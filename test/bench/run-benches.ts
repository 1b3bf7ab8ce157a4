import type { Bench, BenchResult } from './bench.ts'
import { calls } from './benches/calls.ts'
import { contention } from './benches/contention.ts'
import { copy } from './benches/copy.ts'
import { cost } from './benches/cost.ts'
import { firstRequest } from './benches/first-request.ts'
import { latency } from './benches/latency.ts'
import { manyFiles } from './benches/many-files.ts'
import { operationCalls } from './benches/operation-calls.ts'
import { scale } from './benches/scale.ts'
import { zip } from './benches/zip.ts'

/** In the order of docs/performance.md; cost needs the figures of others. */
export const BENCHES: readonly Bench[] = [
  zip,
  firstRequest,
  calls,
  operationCalls,
  latency,
  copy,
  cost,
  contention,
  manyFiles,
  scale,
]

export interface Ran {
  bench: Bench
  result: BenchResult
}

interface Options {
  isQuick: boolean
  /** What earlier runs found, by name: for a bench that needs the figures of one that is not run now. */
  known: ReadonlyMap<string, Record<string, unknown>>
  /** Called with what is going on, in a few words. */
  progress(text: string): void
  done(ran: Ran): Promise<void>
}

export async function runBenches(
  benches: readonly Bench[],
  { isQuick, known, progress, done }: Options,
): Promise<void> {
  const figures = new Map(known)
  for (const bench of benches) {
    progress(bench.name)
    const result = await bench.run({ isQuick, figures, progress: (text) => progress(`${bench.name}: ${text}`) })
    figures.set(bench.name, result.figures)
    await done({ bench, result })
  }
}
