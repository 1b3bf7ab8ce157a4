import { addedUp, TOO_FEW, TOO_MANY } from './counter-writes.ts'
import { NO_CUT } from './empty-world.ts'
import { holdsBytes } from './invariants.ts'
import type { Choice, Steps } from './steps.ts'
import {
  attemptIds,
  DOCUMENT,
  entry,
  LISTING,
  NO_WATCH,
  type Process,
  placeOf,
  SCANNING,
  TOMBSTONE,
  type World,
} from './world.ts'

const has = (mask: number, bit: number): boolean => (mask & (1 << bit)) !== 0

/** lib/maintenance/ledger-cut.ts: one read of the ledger. */
function cutLedger(world: World, process: Process): void {
  Object.assign(process, { seenAttempts: 0, seenReleases: 0, memo: 0 })
  Object.assign(world.cut, NO_CUT, { phase: LISTING, used: world.used })
  for (const id of attemptIds(world)) {
    const { isTaking, isBack } = entry(world.attempts, id)
    if (isTaking) process.seenAttempts |= 1 << id
    if (isBack) world.cut.gone |= 1 << id
    if (holdsBytes(world, id)) world.cut.held |= 1 << id
  }
  world.releases.forEach(({ attempt, isEmpty }, release) => {
    if (attempt === 0) return
    process.seenReleases |= 1 << release
    if (isEmpty) world.cut.emptied |= 1 << attempt
  })
}

function lookAfterObject({ cut }: World): string {
  Object.assign(cut, NO_CUT)
  return 'audit.findMarker'
}

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
          const { document } = placeOf(world, about)
          const isLoose = entry(world.attempts, about).hasObject && document.attempt !== about
          if (isLoose) choices.push({ label: `sees object ${about} without a document`, next: lookAfterObject, about })
        }
        return choices
      },
    },
    'audit.rows': {
      read: (world, process) => {
        const { row } = entry(world.places, process.memo)
        const isThere = row.attempt !== 0 && !row.isFence && !has(world.cut.later, row.attempt)
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
        process.seenReleases = 0
        return [{ label: 'reads the counter again', next: 'audit.documents' }]
      },
    },
    'audit.documents': {
      read: (world, process) => {
        const { cut } = world
        const place = process.memo
        const { document } = entry(world.places, place)
        const isCounted = (attempt: number) => attempt !== 0 && !has(cut.later, attempt)
        const isRetired = document.kind === TOMBSTONE && document.retiredBy !== 0 && !document.isFinished
        const isThere = document.kind === DOCUMENT || (isRetired && !has(cut.emptied, document.attempt))
        if (isThere && isCounted(document.attempt)) process.seenAttempts |= 1 << document.attempt
        for (const attempt of attemptIds(world)) {
          const isFormer = entry(world.attempts, attempt).isFormer && entry(world.setup.placeOf, attempt) === place
          if (isFormer && isCounted(attempt) && !has(cut.gone, attempt)) process.seenAttempts |= 1 << attempt
        }
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

    // In the order in which an attempt goes from one to the next.
    'audit.findMarker': {
      read: (world, { about }) => {
        const isMarked =
          entry(world.attempts, about).isTaking || world.releases.some(({ attempt }) => attempt === about)
        return [{ label: `finds ${isMarked ? 'a' : 'no'} marker`, next: isMarked ? end : 'audit.findRow' }]
      },
    },
    'audit.findRow': {
      read: (world, { about }) => {
        const isThere = placeOf(world, about).row.attempt === about || entry(world.attempts, about).watch !== NO_WATCH
        return [{ label: `finds ${isThere ? 'a' : 'no'} row`, next: isThere ? end : 'audit.findDocument' }]
      },
    },
    'audit.findDocument': {
      read: (world, { about }) => {
        const { document } = placeOf(world, about)
        const isThere = document.kind === DOCUMENT && document.attempt === about
        return [{ label: `finds ${isThere ? 'the' : 'no'} document`, next: isThere ? end : 'audit.discard' }]
      },
    },
    'audit.discard': { write: 'discard', on: { done: end, failed: end } },
  }
}
