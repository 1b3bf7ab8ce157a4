import { promotionOf } from './promotion.ts'
import {
  type Choice,
  completeDeletion,
  completeRelease,
  fence,
  hasEnded,
  type Next,
  type Steps,
  settle,
  undo,
} from './steps.ts'
import {
  attemptIds,
  CLAIM,
  DOCUMENT,
  entry,
  FORESTALLED,
  NO_NOTE,
  NOTE_OVER,
  type Note,
  PROMOTION,
  type Process,
  placeOf,
  type Row,
  WAITING,
  type World,
} from './world.ts'

/** In `seenAttempts`: there was something in the counter. */
const SOMETHING = 1

/** The lease of an attempt that was there before the run began ended long ago. */
export function isLeaseOver(world: World, attempt: number): boolean {
  const index = world.setup.roles.findIndex((role) => role.kind === 'promotion' && role.attempt === attempt)
  return index === -1 || entry(world.processes, index).isLeaseOver
}

/** Whether it will care that the workspace has changed since it read the counter. */
export function isReader(world: World, index: number): boolean {
  const { step, about } = entry(world.processes, index)
  return step !== WAITING && about === 0 && entry(world.setup.roles, index).kind === 'resolver'
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

const isBeingReleased = (world: World, about: number): boolean =>
  world.releases.some(({ attempt }) => attempt === about)

/** Claims the workspace before it resolves anything: nobody who has read the ledger before may now say that nothing is due. */
const claims =
  (next: string): Next =>
  (world, own) => {
    if (!world.isDue) return 'waiting'
    world.processes.forEach((process, index) => {
      if (process !== own && isReader(world, index)) process.hasChanged = true
    })
    return next
  }

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
    if (purpose === FORESTALLED)
      choices.push({ label: `sees ${about} forestalled`, next: claims('forestalled.fence'), about })
    else if (purpose === CLAIM) choices.push({ label: `sees claim ${about}`, next: 'resolver.confirmClaim', about })
    else if (closedBy === 0) choices.push({ label: `sees row ${about}`, next: 'resolver.confirmRow', about })
    else choices.push({ label: `sees row ${about}, closed`, next: 'resolver.confirmClosed', about })
  }
  for (const about of attemptIds(world)) {
    const { lateCopy, deletion } = entry(world.attempts, about)
    if (lateCopy !== NO_NOTE || deletion !== NO_NOTE) isEmpty = false
    if (isNoteOver(world, lateCopy))
      choices.push({ label: `sees a note of late copy ${about}`, next: claims('lateCopy.fence'), about })
    if (!isNoteOver(world, deletion)) continue
    const { kind, attempt } = placeOf(world, about).document
    const isForgotten = kind === DOCUMENT && attempt === about
    const next = isForgotten ? 'resolver.forget' : 'resolveDeletion.retire'
    choices.push({ label: `sees a note of deletion ${about}`, next: claims(next), about })
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
      choices.push({ label: `sees taking ${about}`, next: claims('resolver.findRow'), about })
  }
  world.releases.forEach(({ attempt: about, isDeletion, isLeaseOver: isOver }, release) => {
    if (about === 0 || !seemsOver(world, isOver)) return
    const next = claims(isDeletion ? 'releaseDeleted.close' : 'releaseUndone.close')
    choices.push({ label: `sees release ${release} of ${about}`, next, about, release })
  })
  return choices.length > 0 ? choices : [{ label: 'sees nothing that is overdue', next: 'waiting' }]
}

/** What a release in the ledger gives back is left to that release. */
const confirmed = (next: string) => ({
  read: (world: World, { about }: Process): Choice[] => {
    if (isBeingReleased(world, about)) return [{ label: 'finds a release of it', next: 'waiting' }]
    return [{ label: 'finds no release of it', next: claims(next) }]
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
        const isMarked =
          world.attempts.some(({ isTaking }) => isTaking) || world.releases.some(({ attempt }) => attempt)
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
        if (attempt === about && purpose === PROMOTION) return [{ label: 'finds its row', next: 'taking.unmark' }]
        if (attempt === about && purpose === CLAIM) return [{ label: 'finds its claim', next: 'claimed.fence' }]
        return [{ label: 'finds no row', next: hasKey(world, about) ? 'resolver.release' : 'taking.fence' }]
      },
    },
    'resolver.release': { write: 'release', on: ends },
    ...fence('taking', { fenced: 'taking.forestall', recorded: 'taking.unmark', failed }),
    'taking.forestall': {
      write: 'forestall',
      on: { forestalled: 'taking.release', open: 'taking.unmark', failed },
    },
    ...fence('claimed', { fenced: 'claimed.note', recorded: 'taking.unmark', failed }),
    'claimed.note': { write: 'noteLateCopy', on: { done: 'claimed.removeClaim', failed } },
    'claimed.removeClaim': {
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
    /** With a taking, it tells the key of the object: it is left to what resolves that. */
    'resolver.confirmClaim': {
      read: (world, { about }) => {
        if (entry(world.attempts, about).isTaking) return [{ label: 'finds its taking', next: end }]
        return [{ label: 'finds no taking', next: claims('resolver.removeClaim') }]
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
    'resolver.forget': { write: 'forgetDeletion', on: ends },
  }
}
