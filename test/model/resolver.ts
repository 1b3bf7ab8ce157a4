import { promotionOf } from './promotion.ts'
import { type Choice, completeDeletion, completeRelease, fence, hasEnded, type Steps, settle, undo } from './steps.ts'
import {
  attemptIds,
  CLAIM,
  DOCUMENT,
  entry,
  FORESTALLED,
  NO_NOTE,
  NOTE_OLD,
  NOTE_OVER,
  type Note,
  PROMOTION,
  type Process,
  placeOf,
  type Row,
  type World,
} from './world.ts'

/** In `seenAttempts`: there was something in the counter. */
const SOMETHING = 1

/** The lease of an attempt that was there before the run began ended long ago. */
export function isLeaseOver(world: World, attempt: number): boolean {
  const index = world.setup.roles.findIndex((role) => role.kind === 'promotion' && role.attempt === attempt)
  return index === -1 || entry(world.processes, index).isLeaseOver
}

const seemsOver = (world: World, isOver: boolean): boolean => isOver || world.setup.areLeasesWrong === true

const isNoteOver = (world: World, note: Note): boolean => note !== NO_NOTE && seemsOver(world, note >= NOTE_OVER)

function isRowOver(world: World, row: Row): boolean {
  if (row.purpose !== FORESTALLED) return seemsOver(world, isLeaseOver(world, row.attempt))
  // Where leases are wrong, nobody ends this one; a quarter of an hour later, nobody opens what it forestalls.
  const isDead = world.processes.every((other, at) => promotionOf(world, at).attempt !== row.attempt || hasEnded(other))
  return row.isLeaseOver || (world.setup.areLeasesWrong === true && isDead && world.late.length === 0)
}

const hasKey = (world: World, attempt: number): boolean =>
  world.processes.some((_, index) => promotionOf(world, index).attempt === attempt && promotionOf(world, index).hasKey)

const isBeingReleased = (world: World, about: number): boolean => world.releases.some(({ attempt }) => attempt === about)

/**
 * One leftover for each choice: a resolver that deals with several in turn does no more than several that deal with one
 * each.
 */
function readRows(world: World, { seenAttempts }: Process): Choice[] {
  const choices: Choice[] = []
  let isEmpty = seenAttempts === 0
  for (const { row } of world.places) {
    const { attempt: about, purpose, closedBy } = row
    if (about === 0) continue
    isEmpty = false
    if (!isRowOver(world, row)) continue
    if (purpose === FORESTALLED) choices.push({ label: `sees ${about} forestalled`, next: 'forestalled.fence', about })
    else if (purpose === CLAIM) choices.push({ label: `sees claim ${about}`, next: 'resolver.confirmClaim', about })
    else if (closedBy === 0) choices.push({ label: `sees row ${about}`, next: 'resolver.confirmRow', about })
    else choices.push({ label: `sees row ${about}, closed`, next: 'resolver.confirmClosed', about })
  }
  for (const about of attemptIds(world)) {
    const { lateCopy, deletion } = entry(world.attempts, about)
    if (lateCopy !== NO_NOTE || deletion !== NO_NOTE) isEmpty = false
    if (isNoteOver(world, lateCopy))
      choices.push({ label: `sees a note of late copy ${about}`, next: 'lateCopy.fence', about })
    if (!isNoteOver(world, deletion)) continue
    const { kind, attempt } = placeOf(world, about).document
    const isForgotten = seemsOver(world, deletion === NOTE_OLD) && kind === DOCUMENT && attempt === about
    if (isForgotten) choices.push({ label: `sees a note of old deletion ${about}`, next: 'resolver.forget', about })
    if (!isForgotten || world.setup.areLeasesWrong)
      choices.push({ label: `sees a note of deletion ${about}`, next: 'resolveDeletion.retire', about })
  }
  if (isEmpty) return [{ label: 'sees nothing', next: 'resolver.reschedule' }]
  const goOn = { label: 'goes on', next: 'resolver.counter' }
  // The first choice is what a resolver begins with that nothing disturbs.
  return seenAttempts === 0 ? [...choices, goOn] : [goOn, ...choices]
}

function readCounter(world: World): Choice[] {
  const choices: Choice[] = []
  for (const about of attemptIds(world)) {
    const isOver = seemsOver(world, isLeaseOver(world, about))
    if (entry(world.attempts, about).isTaking && isOver)
      choices.push({ label: `sees taking ${about}`, next: 'resolver.findRow', about })
  }
  world.releases.forEach(({ attempt: about, isDeletion, isLeaseOver: isOver }, release) => {
    if (about === 0 || !seemsOver(world, isOver)) return
    const next = isDeletion ? 'releaseDeleted.close' : 'releaseUndone.close'
    choices.push({ label: `sees release ${release} of ${about}`, next, about, release })
  })
  return choices.length > 0 ? choices : [{ label: 'sees nothing that is overdue', next: 'waiting' }]
}

/** What a release in the ledger gives back is left to that release. */
const confirmed = (next: string) => ({
  read: (world: World, { about }: Process): Choice[] => {
    if (isBeingReleased(world, about)) return [{ label: 'finds a release of it', next: 'waiting' }]
    return [{ label: 'finds no release of it', next }]
  },
})

/** lib/promotion/resolve-workspace.ts, leftovers.ts */
export function resolverSteps(): Steps {
  const end = 'waiting'
  const failed = end
  const ends = { done: end, failed }
  return {
    'resolver.start': {
      read: (world, process) => {
        const isMarked = world.attempts.some(({ isTaking }) => isTaking) || world.releases.some(({ attempt }) => attempt)
        Object.assign(process, { hasChanged: false, seenAttempts: isMarked ? SOMETHING : 0 })
        return [{ label: 'reads the counter', next: 'resolver.rows' }]
      },
    },
    'resolver.rows': { read: readRows },
    'resolver.counter': { read: readCounter },
    'resolver.reschedule': { write: 'reschedule', on: ends },

    /** Read after the taking was seen. Without its claim, an attempt with a key can open nothing any more. */
    'resolver.findRow': {
      read: (world, { about }) => {
        const { attempt, purpose } = placeOf(world, about).row
        const isThere = attempt === about && purpose !== FORESTALLED
        if (isThere && purpose === PROMOTION) return [{ label: 'finds its row', next: 'taking.unmark' }]
        if (isThere) return [{ label: 'finds its claim', next: 'taking.note' }]
        return [{ label: 'finds no row', next: hasKey(world, about) ? 'resolver.release' : 'taking.fence' }]
      },
    },
    'resolver.release': { write: 'release', on: ends },
    ...fence('taking', { fenced: 'taking.forestall', recorded: 'taking.unmark', failed }),
    'taking.forestall': {
      write: 'forestall',
      on: { forestalled: 'taking.release', open: 'taking.unmark', failed },
    },
    /** Where this fails, the claim is the next thing that the same run looks at. */
    'taking.note': { write: 'noteLateCopy', on: { done: 'taking.removeClaim', failed: 'resolver.removeClaim' } },
    'taking.removeClaim': {
      write: 'removeClaim',
      on: { forestalled: 'taking.release', open: 'taking.unmark', failed },
    },
    'taking.release': { write: 'release', on: { done: 'taking.discard', failed } },
    'taking.discard': { write: 'discard', on: ends },
    'taking.unmark': { write: 'unmark', on: ends },

    ...completeRelease('releaseUndone', 'undo', end, failed),
    ...completeRelease('releaseDeleted', 'deletion', end, failed),

    'resolver.confirmRow': confirmed('resolveRow.fence'),
    ...undo('resolveRow', () => true, { recorded: 'settleRow.unmark', undone: end, failed }),
    ...settle('settleRow', end, failed),
    'resolver.confirmClosed': confirmed('resolver.removeClosed'),
    /** The marker is written before the closing, and goes with the bytes: if it is gone, they were given back. */
    'resolver.removeClosed': { write: 'remove', on: ends },
    /** Takings come first. */
    'resolver.confirmClaim': {
      read: (world, { about }) => {
        if (entry(world.attempts, about).isTaking) return [{ label: 'finds its taking', next: 'resolver.findRow' }]
        return [{ label: 'finds no taking', next: 'resolver.removeClaim' }]
      },
    },
    'resolver.removeClaim': { write: 'removeClaim', on: { forestalled: end, open: end, failed } },

    ...fence('forestalled', { fenced: 'forestalled.discard', recorded: 'forestalled.remove', failed }),
    'forestalled.discard': { write: 'discard', on: { done: 'forestalled.remove', failed } },
    'forestalled.remove': { write: 'remove', on: ends },
    ...fence('lateCopy', { fenced: 'lateCopy.discard', recorded: 'lateCopy.removeNote', failed }),
    'lateCopy.discard': { write: 'discard', on: { done: 'lateCopy.removeNote', failed } },
    'lateCopy.removeNote': { write: 'removeLateCopy', on: ends },
    ...completeDeletion('resolveDeletion', end, failed),
    'resolver.forget': { write: 'removeDeletion', on: ends },
  }
}
