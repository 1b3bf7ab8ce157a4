import type { Scenario } from './explore.ts'
import type { InvariantName } from './invariants.ts'
import type { Protocol } from './protocol.ts'
import type { Choice, Next, ReadStep, WriteStep } from './steps.ts'
import type { Process, World } from './world.ts'
import type { Write, WriteName } from './writes.ts'

/** Does one thing otherwise than the protocol says. */
export type Plant = (protocol: Protocol) => void

/** Bugs by what is done, that the exploration of one scenario finds. */
export interface PlantedBugs {
  scenario: Scenario
  /** What they break first. */
  breaks: InvariantName
  bugs: Readonly<Record<string, Plant>>
}

export const BYTES = 'used bytes = those held, each once'
export const SUM = 'an audit adds up what was counted'
export const FALSE_FINDING = 'an audit finds nothing that is in order'
export const OBJECT = 'a document has its object'
export const NO_DOCUMENT = 'answered an error, or with a twin’s document: no document'
export const LOOSE_OBJECT = 'at rest: no object without its document'
export const UNFINISHED = 'at rest: a deletion is finished'

/** Changes a write: its condition, how often it is sent, or what it does. */
export const rewrite =
  (name: WriteName, change: Partial<Write>): Plant =>
  ({ writes }) => {
    Object.assign(writes[name], change)
  }

/** Makes other steps follow the answers to writes. */
export const redirect =
  (answers: Record<string, Record<string, Next>>): Plant =>
  ({ steps }) => {
    for (const [name, on] of Object.entries(answers)) {
      const step = steps[name] as WriteStep
      steps[name] = { ...step, on: { ...step.on, ...on } }
    }
  }

/** Makes a read lead to other conclusions. @param change given those of the protocol */
export const misread =
  (name: string, change: (choices: Choice[], world: World, process: Process) => Choice[]): Plant =>
  ({ steps }) => {
    const { read } = steps[name] as ReadStep
    steps[name] = { read: (world, process, index) => change(read(world, process, index), world, process) }
  }

/** Makes a read always lead to one step. */
export const skip = (name: string, next: string): Plant => misread(name, () => [{ label: 'does not look', next }])
