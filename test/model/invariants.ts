import type { Model } from './protocol.ts'
import { endOf } from './steps.ts'
import { attemptIds, DOCUMENT, entry, isUnfinished, NO_NOTE, PROMOTION, placeOf, type World } from './world.ts'
import { WRITE_NAMES } from './writes.ts'

const DISCARD = WRITE_NAMES.indexOf('discard')

export type Invariant = (world: World, model: Model) => boolean

/** Whether the bytes of an attempt are taken. They count once, as long as one of these is true. */
export function holdsBytes(world: World, attempt: number): boolean {
  const { isTaking, wasRetired } = entry(world.attempts, attempt)
  // A marker of a deleted document came from a backup: the resolver takes it away.
  if (isTaking && !wasRetired) return true
  const { row, document } = placeOf(world, attempt)
  if (row.attempt === attempt && row.purpose === PROMOTION) {
    if (row.closedBy === 0 || entry(world.releases, row.closedBy).attempt === attempt) return true
  }
  if (document.attempt !== attempt) return false
  if (document.kind === DOCUMENT || (document.closedBy === 0 && !document.isFinished)) return true
  return document.closedBy !== 0 && entry(world.releases, document.closedBy).attempt === attempt
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
  'an audit finds nothing that is in order': ({ processes }, { steps }) =>
    processes.every(({ step }) => entry(steps, step).name !== 'audit.report'),
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
  'the ledger is not marked across a call to S3': (world, { steps }) =>
    world.processes.every(({ step, about, release }) => {
      return entry(steps, step).write !== DISCARD || release === 0 || entry(world.releases, release).attempt !== about
    }),
  'answered 200: the document was recorded': (world) =>
    everyAnswer(world, (end, attempt) => end !== 'succeeded' || entry(world.attempts, attempt).wasRecorded),
  'answered an error, or with a twin’s document: no document': (world) =>
    everyAnswer(world, (end, attempt) => !NO_DOCUMENT_ENDS.has(end) || !isDocument(world, attempt)),
} as const satisfies Record<string, Invariant>

const NO_DOCUMENT_ENDS = new Set(['refused', 'failed', 'answeredWithTwins'])

/**
 * At the end of everything: nobody at work, nothing on the wire, all leases over, the resolver run to its end. Notes and claims
 * hold no bytes: what is left of them waits for the next promotion, which makes the workspace due.
 */
export const INVARIANTS_AT_REST = {
  'at rest: the resolver has come to its end': (world) => !world.isDue,
  'at rest: no marker': (world) =>
    !world.attempts.some(({ isTaking }) => isTaking) && !world.releases.some(({ attempt }) => attempt !== 0),
  'at rest: no reservation': (world) =>
    world.places.every(({ row: { attempt, purpose } }) => attempt === 0 || purpose !== PROMOTION),
  // The audit finds these: with wrong leases, they may be there.
  'at rest: a deletion is finished': (world) =>
    world.places.every(({ document }) => !isUnfinished(document)) || world.setup.areLeasesWrong === true,
  'at rest: no object without its document': (world) =>
    attemptIds(world).every((attempt) => !entry(world.attempts, attempt).hasObject || isDocument(world, attempt)) ||
    world.setup.areLeasesWrong === true,
} as const satisfies Record<string, Invariant>

/** The same once the workspace was due again. */
export const INVARIANTS_AT_LAST = {
  ...INVARIANTS_AT_REST,
  'at last: no claim, no note': ({ places, attempts }) =>
    places.every(({ row }) => row.attempt === 0) &&
    attempts.every(({ lateCopy, deletion }) => lateCopy === NO_NOTE && deletion === NO_NOTE),
} as const satisfies Record<string, Invariant>

export type InvariantName = keyof typeof INVARIANTS | keyof typeof INVARIANTS_AT_LAST | keyof typeof INVARIANTS_ALONE

/** Of one plain promotion and one resolver: nobody else undoes it meanwhile. */
export const INVARIANTS_ALONE = {
  'the resolver undoes nothing that is undone': (world, { steps }) =>
    world.processes.every(
      ({ step, about }) => entry(steps, step).name !== 'resolveRow.mark' || holdsBytes(world, about),
    ),
} as const satisfies Record<string, Invariant>

export function brokenOf(
  world: World,
  model: Model,
  invariants: Readonly<Record<string, Invariant>>,
): InvariantName | undefined {
  for (const name in invariants) if (!invariants[name]?.(world, model)) return name as InvariantName
  return undefined
}
