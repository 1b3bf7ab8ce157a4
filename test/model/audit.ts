import { addedUp } from './counter-writes.ts'
import type { Choice, Steps } from './steps.ts'
import { attemptIds, DOCUMENT, entry, NO_WATCH, placeOf, TOMBSTONE } from './world.ts'

/** lib/maintenance/audit-workspace.ts: adds the used bytes up; or looks after one object that no document has. */
export function auditSteps(): Steps {
  const end = 'waiting'
  return {
    'audit.start': {
      read: (world, process) => {
        Object.assign(process, { hasChanged: false, seenAttempts: 0, seenReleases: 0 })
        for (const attempt of attemptIds(world)) {
          if (entry(world.attempts, attempt).isTaking) process.seenAttempts |= 1 << attempt
        }
        world.releases.forEach(({ attempt, isEmpty }, release) => {
          if (attempt !== 0 && !isEmpty) process.seenReleases |= 1 << release
        })
        const choices: Choice[] = [{ label: 'reads the counter', next: 'audit.rows' }]
        for (const about of attemptIds(world)) {
          const { document } = placeOf(world, about)
          const isLoose = entry(world.attempts, about).hasObject && document.attempt !== about
          if (isLoose)
            choices.push({ label: `sees object ${about} without a document`, next: 'audit.findMarker', about })
        }
        return choices
      },
    },
    'audit.rows': {
      read: (world, process) => {
        for (const { row } of world.places) {
          const isReleased = row.closedBy !== 0 && (process.seenReleases & (1 << row.closedBy)) === 0
          if (row.attempt !== 0 && !row.isFence && !isReleased) process.seenAttempts |= 1 << row.attempt
        }
        return [{ label: 'reads the rows', next: 'audit.documents' }]
      },
    },
    'audit.documents': {
      read: (world, process) => {
        for (const { document } of world.places) {
          if (document.kind === DOCUMENT) process.seenAttempts |= 1 << document.attempt
        }
        return [{ label: 'reads the documents', next: 'audit.retired' }]
      },
    },
    'audit.retired': {
      read: (world, process) => {
        for (const { document } of world.places) {
          const isReleasing = document.retiredBy !== 0 && (process.seenReleases & (1 << document.retiredBy)) !== 0
          if (document.kind === TOMBSTONE && isReleasing) process.seenAttempts |= 1 << document.attempt
        }
        process.seenReleases = 0
        return [{ label: 'reads what is being deleted', next: 'audit.compare' }]
      },
    },
    'audit.compare': {
      read: (world, { hasChanged, seenAttempts }) => {
        if (hasChanged) return [{ label: 'sees that the counter has changed', next: end }]
        if (addedUp(seenAttempts) === world.used) return [{ label: 'finds no drift', next: end }]
        return [{ label: 'finds drift', next: 'audit.correct' }]
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
