import { endOf } from './steps.ts'
import { attemptIds, DOCUMENT, entry, NO_WATCH, placeOf, TOMBSTONE, type World } from './world.ts'

type Invariant = (world: World) => boolean

/** Whether the bytes of an attempt are taken. They count once, as long as one of these is true. */
export function holdsBytes(world: World, attempt: number): boolean {
  if (entry(world.attempts, attempt).isTaking) return true
  const { row, document } = placeOf(world, attempt)
  if (row.attempt === attempt && !row.isFence && row.closedBy === 0) return true
  if (document.kind === DOCUMENT && document.attempt === attempt) return true
  for (let release = 1; release < world.releases.length; release++) {
    const marker = entry(world.releases, release)
    if (marker.attempt !== attempt || marker.isEmpty) continue
    if (row.attempt === attempt && row.closedBy === release) return true
    if (document.attempt === attempt && document.retiredBy === release) return true
  }
  return false
}

function isDocument(world: World, attempt: number): boolean {
  const { document } = placeOf(world, attempt)
  return document.kind === DOCUMENT && document.attempt === attempt
}

/** Whether something holds for the answer of every promotion that has answered, and for its attempt. */
function everyAnswer(world: World, holds: (end: string, attempt: number) => boolean): boolean {
  for (let index = 0; index < world.processes.length; index++) {
    const end = endOf(entry(world.processes, index))
    if (end === undefined) continue
    const role = entry(world.setup.roles, index)
    if (role.kind === 'promotion' && !holds(end, role.attempt)) return false
  }
  return true
}

/** The promises of docs/reliability.md, at every moment. */
export const INVARIANTS = {
  'used bytes = those held, each once': (world) => {
    let held = 0
    for (let attempt = 1; attempt < world.attempts.length; attempt++) if (holdsBytes(world, attempt)) held++
    return world.used === held + world.drift
  },
  'an audit adds up what was counted': (world) => !world.cut.isWrong,
  'a correction leaves no drift': ({ isCorrected, drift }) => !isCorrected || drift === 0,
  'the quota is not exceeded': (world) => world.used <= world.setup.quota + Math.max(0, world.drift),
  'the item stays small': (world) => {
    let takings = 0
    for (const { isTaking } of world.attempts) if (isTaking) takings++
    return takings <= world.setup.maxTakings
  },
  'a document has its object': (world) =>
    world.places.every(
      ({ document: { kind, attempt } }) => kind !== DOCUMENT || entry(world.attempts, attempt).hasObject,
    ),
  'only a deletion removes a document': (world) => {
    for (let attempt = 1; attempt < world.attempts.length; attempt++) {
      const { wasRecorded, wasRetired } = entry(world.attempts, attempt)
      if (wasRecorded && !wasRetired && !isDocument(world, attempt)) return false
    }
    return true
  },
  'answered 200: the document was recorded': (world) =>
    everyAnswer(world, (end, attempt) => end !== 'succeeded' || entry(world.attempts, attempt).wasRecorded),
  'answered an error, or with a twin’s document: no document': (world) =>
    everyAnswer(world, (end, attempt) => !NO_DOCUMENT_ENDS.has(end) || !isDocument(world, attempt)),
} as const satisfies Record<string, Invariant>

const NO_DOCUMENT_ENDS = new Set(['refused', 'failed', 'answeredWithTwins'])

/** At the end of everything: nobody at work, nothing on the wire, all leases over, the resolver run to its end. */
export const INVARIANTS_AT_REST = {
  'at rest: the resolver has come to its end': (world) => !world.isDue,
  'at rest: no marker': (world) =>
    !world.attempts.some(({ isTaking }) => isTaking) && !world.releases.some(({ attempt }) => attempt !== 0),
  'at rest: no row': (world) => world.places.every(({ row }) => row.attempt === 0),
  'at rest: no watch': (world) => world.attempts.every(({ watch }) => watch === NO_WATCH),
  'at rest: used bytes = those of the documents': (world) =>
    world.used - world.drift === world.places.filter(({ document }) => document.kind === DOCUMENT).length,
  'at rest: no object without its document': (world) =>
    attemptIds(world).every((attempt) => !entry(world.attempts, attempt).hasObject || isDocument(world, attempt)),
  'at rest: a tombstone is finished': (world) =>
    world.places.every(({ document }) => document.kind !== TOMBSTONE || document.isFinished),
} as const satisfies Record<string, Invariant>

export type InvariantName = keyof typeof INVARIANTS | keyof typeof INVARIANTS_AT_REST

export function brokenOf(world: World, invariants: Readonly<Record<string, Invariant>>): InvariantName | undefined {
  for (const name in invariants) if (!invariants[name]?.(world)) return name as InvariantName
  return undefined
}
