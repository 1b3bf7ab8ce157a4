import type { Scenario } from './explore.ts'
import type { InvariantName } from './invariants.ts'
import { plantedReads } from './planted-reads.ts'
import { plantedSteps } from './planted-steps.ts'
import { plantedWrites } from './planted-writes.ts'
import type { Protocol } from './protocol.ts'

/** One thing done otherwise than the protocol says. */
export interface PlantedBug {
  /** What is done. */
  name: string
  plant(protocol: Protocol): void
  /** Where the exploration finds it. */
  scenario: Scenario
  /** What is broken first. */
  breaks: InvariantName
}

export const PLANTED_BUGS: readonly PlantedBug[] = [...plantedWrites, ...plantedSteps, ...plantedReads]

export const BYTES = 'used bytes = those held, each once'
export const OBJECT = 'a document has its object'
