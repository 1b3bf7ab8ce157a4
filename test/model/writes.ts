import { counterWrites } from './counter-writes.ts'
import { documentWrites } from './document-writes.ts'
import type { PredicateName } from './predicates.ts'
import { reservationWrites } from './reservation-writes.ts'
import type { Call, World } from './world.ts'

/**
 * How often a write may be sent. `once`: it opens; a try that was not throttled is never followed by another. `afresh`: it
 * opens, and each try has a release id of its own. `repeatedly`: it closes. `ifUnchanged`: asks for the version that was
 * read, so that a late or repeated one is as good as one that was never sent.
 */
export type Sent = 'once' | 'afresh' | 'repeatedly' | 'ifUnchanged'

export interface Write {
  sent: Sent
  /** The condition: one of these alternatives, all of its predicates. An empty alternative always holds. */
  where: PredicateName[][]
  effect(world: World, call: Call): void
  /** The answer to one that was applied. */
  applied: string
  /** The answer to one whose condition did not hold: what it is told, or reads from the item that stood in the way. */
  refused: string | ((world: World, call: Call) => string)
  /** A write of the counter: its version goes up. */
  isOfCounter?: true
}

/** The writes of the protocol by the names of the ports' methods in lib/promotion. Made anew, for bugs to be planted in. */
export function createWrites(): Record<WriteName, Write> {
  return { ...counterWrites(), ...reservationWrites(), ...documentWrites() }
}

export type WriteName = keyof (ReturnType<typeof counterWrites> &
  ReturnType<typeof reservationWrites> &
  ReturnType<typeof documentWrites>)

export const WRITE_NAMES = Object.keys(createWrites()) as WriteName[]

/** The condition of each write: what a test can compare those of lib/aws with. */
export const CONDITIONS: ReadonlyMap<WriteName, readonly (readonly PredicateName[])[]> = new Map(
  WRITE_NAMES.map((name) => [name, createWrites()[name].where]),
)
