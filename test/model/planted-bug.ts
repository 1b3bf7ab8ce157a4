import type { Scenario } from './explore.ts'
import type { InvariantName } from './invariants.ts'
import type { Protocol } from './protocol.ts'
import type { Choice, Next, ReadStep, WriteStep } from './steps.ts'
import type { Process, World } from './world.ts'

/** One thing done otherwise than the protocol says. */
export interface PlantedBug {
  /** What is done. */
  name: string
  plant(protocol: Protocol): void
  /** Where the exploration finds it. */
  scenario: Scenario
  /** As many as it takes, where that is fewer than the scenario has. */
  faults?: number
  /** What it breaks first. */
  breaks: InvariantName
}

export const BYTES = 'used bytes = those held, each once'
export const SUM = 'an audit adds up what was counted'
export const OBJECT = 'a document has its object'
export const NO_DOCUMENT = 'answered an error, or with a twin’s document: no document'
export const LOOSE_OBJECT = 'at rest: no object without its document'

/** Makes other steps follow the answers to a write. */
export function redirect({ steps }: Protocol, name: string, answers: Record<string, Next>): void {
  const step = steps[name] as WriteStep
  steps[name] = { ...step, on: { ...step.on, ...answers } }
}

/** Makes a read lead to other conclusions. @param change given those of the protocol */
export function misread(
  { steps }: Protocol,
  name: string,
  change: (choices: Choice[], world: World, process: Process) => Choice[],
): void {
  const { read } = steps[name] as ReadStep
  steps[name] = { read: (world, process, index) => change(read(world, process, index), world, process) }
}
