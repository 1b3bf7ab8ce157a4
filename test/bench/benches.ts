import type { Bench, Row } from './bench.ts'
import { contention } from './benches/contention.ts'
import { copy } from './benches/copy.ts'
import { firstRequest } from './benches/first-request.ts'
import { manyFiles } from './benches/many-files.ts'
import { processorTime } from './benches/processor-time.ts'
import { scale } from './benches/scale.ts'
import { zip } from './benches/zip.ts'

/** In the order of docs/performance.md. */
export const BENCHES: readonly Bench[] = [zip, firstRequest, processorTime, copy, contention, manyFiles, scale]

export interface Ran {
  bench: Bench
  rows: Row[]
}
