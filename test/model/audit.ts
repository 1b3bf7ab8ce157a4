import { addedUp, TOO_FEW, TOO_MANY } from './counter-writes.ts'
import { NO_CUT } from './empty-world.ts'
import { holdsBytes } from './invariants.ts'
import type { Choice, Next, Steps } from './steps.ts'
import {
  attemptIds,
  DOCUMENT,
  entry,
  isUnfinished,
  LISTING,
  NO_NOTE,
  PROMOTION,
  type Process,
  placeOf,
  SCANNING,
  type World,
} from './world.ts'

const has = (mask: number, bit: number): boolean => (mask & (1 << bit)) !== 0

/** lib/maintenance/ledger-cut.ts: one read of the ledger. */
function cutLedger(world: World, process: Process): void {
  Object.assign(process, { seenAttempts: 0, seenReleases: 0, memo: 0 })
  Object.assign(world.cut, NO_CUT, { phase: LISTING, used: world.used })
  for (const id of attemptIds(world)) {
    if (entry(world.attempts, id).isTaking) process.seenAttempts |= 1 << id
    if (holdsBytes(world, id)) world.cut.held |= 1 << id
  }
  world.releases.forEach(({ attempt }, release) => {
    if (attempt !== 0) process.seenReleases |= 1 << release
  })
}

/** Looks at one document or object again, instead of adding up. */
const lookAgain =
  (next: string): Next =>
  ({ cut }, process) => {
    Object.assign(cut, NO_CUT)
    process.seenReleases = 0
    return next
  }

const isDocument = (world: World, about: number): boolean => {
  const { kind, attempt } = placeOf(world, about).document
  return kind === DOCUMENT && attempt === about
}

const finds = (isThere: boolean, what: string, ifThere: string, ifNot: string): Choice[] => [
  { label: `finds ${isThere ? 'a' : 'no'} ${what}`, next: isThere ? ifThere : ifNot },
]

/** Rows are read one after the other, each as it is then. */
function nextPlace(world: World, process: Process, again: string, then: string): string {
  process.memo = (process.memo + 1) % world.places.length
  return process.memo === 0 ? then : again
}

/** lib/maintenance: adds the used bytes up, while all goes on; or looks after one object that no document has. */
export function auditSteps(): Steps {
  const end = 'waiting'
  return {
    'audit.start': {
      read: (world, process) => {
        cutLedger(world, process)
        const choices: Choice[] = [{ label: 'reads the counter', next: 'audit.rows' }]
        for (const about of attemptIds(world)) {
          const isThere = isDocument(world, about)
          if (isThere) choices.push({ label: `sees ${about}, no object`, next: lookAgain('audit.findObject'), about })
          else if (entry(world.attempts, about).hasObject)
            choices.push({ label: `sees object ${about}, no document`, next: lookAgain('audit.findMarker'), about })
          const { document } = placeOf(world, about)
          if (isUnfinished(document) && document.attempt === about)
            choices.push({ label: `sees a deletion of ${about}`, next: lookAgain('audit.findNote'), about })
        }
        return choices
      },
    },
    'audit.rows': {
      read: (world, process) => {
        const { row } = entry(world.places, process.memo)
        const isThere = row.attempt !== 0 && row.purpose === PROMOTION && !has(world.cut.later, row.attempt)
        const isKept = row.closedBy === 0 || has(process.seenReleases, row.closedBy)
        if (isThere && isKept) process.seenAttempts |= 1 << row.attempt
        else if (isThere) world.cut.doubts |= 1 << row.closedBy
        return [{ label: `reads row ${process.memo}`, next: nextPlace(world, process, 'audit.rows', 'audit.again') }]
      },
    },
    'audit.again': {
      read: (world, process) => {
        const { cut } = world
        if (cut.isUndone) return [{ label: 'sees that a reservation was undone', next: end }]
        world.releases.forEach(({ attempt }, release) => {
          if (attempt !== 0 && has(cut.doubts, release)) process.seenAttempts |= 1 << attempt
        })
        cut.doubts = 0
        cut.phase = SCANNING
        return [{ label: 'reads the counter again', next: 'audit.documents' }]
      },
    },
    'audit.documents': {
      read: (world, process) => {
        const { cut } = world
        const place = process.memo
        const { document } = entry(world.places, place)
        const { attempt, closedBy } = document
        const isLater = closedBy === 0 || has(cut.laterReleases, closedBy)
        const wasGivenBack = !isLater && !has(process.seenReleases, closedBy)
        if (attempt !== 0 && !has(cut.later, attempt) && !wasGivenBack) process.seenAttempts |= 1 << attempt
        const next = nextPlace(world, process, 'audit.documents', 'audit.compare')
        cut.isWrong = next === 'audit.compare' && process.seenAttempts !== cut.held
        return [{ label: `reads document ${place}`, next }]
      },
    },
    'audit.compare': {
      read: (world, { seenAttempts }) => {
        const excess = world.cut.used - addedUp(seenAttempts)
        Object.assign(world.cut, NO_CUT)
        if (excess === 0) return [{ label: 'finds no drift', next: end }]
        return [{ label: 'finds drift', next: 'audit.correct', about: excess > 0 ? TOO_MANY : TOO_FEW }]
      },
    },
    'audit.correct': { write: 'correct', on: { done: end, failed: end } },

    /** It goes only after the document. */
    'audit.findObject': {
      read: (world, { about }) => finds(entry(world.attempts, about).hasObject, 'object', end, 'audit.findLost'),
    },
    'audit.findLost': { read: (world, { about }) => finds(isDocument(world, about), 'document', 'audit.report', end) },

    // In the order in which an attempt goes from one to the next.
    'audit.findMarker': {
      read: (world, { about }) => finds(entry(world.attempts, about).isTaking, 'taking', end, 'audit.findRow'),
    },
    'audit.findRow': {
      read: (world, { about }) => {
        const { lateCopy, deletion } = entry(world.attempts, about)
        const isThere = placeOf(world, about).row.attempt === about || lateCopy !== NO_NOTE || deletion !== NO_NOTE
        return finds(isThere, 'row', end, 'audit.findDocument')
      },
    },
    'audit.findDocument': {
      read: (world, { about }) => {
        const { document } = placeOf(world, about)
        const isThere = document.attempt === about && (document.kind === DOCUMENT || isUnfinished(document))
        return finds(isThere, 'document', end, 'audit.findLoose')
      },
    },
    'audit.findLoose': {
      read: (world, { about }) => finds(entry(world.attempts, about).hasObject, 'object', 'audit.report', end),
    },

    /** It goes only after the bytes. */
    'audit.findNote': {
      read: (world, { about }) =>
        finds(entry(world.attempts, about).deletion !== NO_NOTE, 'note', end, 'audit.findTombstone'),
    },
    'audit.findTombstone': {
      read: (world, { about }) => {
        const { document } = placeOf(world, about)
        return finds(isUnfinished(document) && document.attempt === about, 'deletion', 'audit.report', end)
      },
    },
    'audit.report': { read: () => [] },
  }
}
