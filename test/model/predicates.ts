import {
  type Call,
  CLAIM,
  DOCUMENT,
  entry,
  isUnfinished,
  NOTED,
  NOTHING,
  PROMOTION,
  placeOf,
  TOMBSTONE,
  type World,
} from './world.ts'

export type Predicate = (world: World, call: Call) => boolean

const rowOf = (world: World, { attempt }: Call) => placeOf(world, attempt).row
const documentOf = (world: World, { attempt }: Call) => placeOf(world, attempt).document

function countTakings(world: World): number {
  let count = 0
  for (const attempt of world.attempts) if (attempt.isTaking) count++
  return count
}

const isMarked: Predicate = (world, { attempt, release }) =>
  release === 0 ? entry(world.attempts, attempt).isTaking : entry(world.releases, release).attempt !== 0

/**
 * What a conditional write may ask of the one item that it writes. The names are those of the fragments that the adapters
 * in lib/aws make their conditions of.
 */
export const PREDICATES = {
  // The counter: the workspace's item
  HAS_ROOM: (world) => world.used < world.setup.quota,
  /** Releases have room of their own, more than a run of the model needs. */
  IS_NOT_CROWDED: (world, call) => call.release !== 0 || countTakings(world) < world.setup.maxTakings,
  IS_NEW_MARKER: (world, call) => !isMarked(world, call),
  IS_MARKED: isMarked,
  IS_NOT_CORRECTED: (world) => !world.isCorrected,
  IS_SAME_VERSION: (world, call) => !entry(world.processes, call.sender).hasChanged,

  // A reservation
  IS_FREE_ROW: (world, call) => rowOf(world, call).attempt === 0,
  IS_OWN_ROW: (world, call) => rowOf(world, call).attempt === call.attempt,
  /** That of the dead attempt whose place it takes. */
  IS_DEAD_ROW: (world, call) => rowOf(world, call).attempt === call.attempt,
  IS_PROMOTION: (world, call) => rowOf(world, call).purpose === PROMOTION,
  IS_CLAIM: (world, call) => rowOf(world, call).purpose === CLAIM,

  IS_OPEN: (world, call) => rowOf(world, call).closedBy === 0,
  /** One that was noted again has a new lease. */
  IS_SAME_NOTE: (world, { attempt }) =>
    entry(world.attempts, attempt).deletion !== NOTED || world.setup.areLeasesWrong === true,

  // A document
  IS_FREE: (world, call) => documentOf(world, call).kind === NOTHING,
  IS_THERE: (world, call) => documentOf(world, call).kind !== NOTHING,
  IS_TOMBSTONE: (world, call) => documentOf(world, call).kind === TOMBSTONE,
  /** Time takes expired tombstones away (time-moves.ts). */
  IS_EXPIRED: () => false,
  WAS_NO_DOCUMENT: (world, call) => documentOf(world, call).attempt === 0,
  IS_NOT_FENCED: (world, call) => documentOf(world, call).fencedThrough < call.attempt,
  IS_NOT_OWN: (world, call) => documentOf(world, call).attempt !== call.attempt,
  IS_ATTEMPTS_DOCUMENT: (world, call) =>
    documentOf(world, call).kind === DOCUMENT && documentOf(world, call).attempt === call.attempt,
  IS_UNFINISHED: (world, call) =>
    isUnfinished(documentOf(world, call)) && documentOf(world, call).attempt === call.attempt,
  IS_NOT_CLOSED: (world, call) => documentOf(world, call).closedBy === 0,
  IS_CLOSED_BY: (world, call) => documentOf(world, call).closedBy === call.release,
} as const satisfies Record<string, Predicate>

export type PredicateName = keyof typeof PREDICATES
