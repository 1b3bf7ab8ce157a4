import { promotionOf } from './promotion.ts'
import { type Choice, completeDeletion, completeUndo, type Steps, settle, undo } from './steps.ts'
import { attemptIds, entry, NO_WATCH, type Process, placeOf, WATCH_OVER, type World } from './world.ts'

/** In `seenAttempts`: there was something in the counter. */
const SOMETHING = 1

/** The lease of an attempt that was there before the run began ended long ago. */
export function isLeaseOver(world: World, attempt: number): boolean {
  const index = world.setup.roles.findIndex((role) => role.kind === 'promotion' && role.attempt === attempt)
  return index === -1 || entry(world.processes, index).isLeaseOver
}

const hasRow = (world: World, attempt: number): boolean => {
  const { row } = placeOf(world, attempt)
  return row.attempt === attempt && !row.isFence
}

const hasKey = (world: World, attempt: number): boolean =>
  world.processes.some((_, index) => promotionOf(world, index).attempt === attempt && promotionOf(world, index).hasKey)

/**
 * One leftover for each choice: a resolver that deals with several in turn does no more than several that deal with one
 * each.
 */
function readCounter(world: World, process: Process): Choice[] {
  const choices: Choice[] = []
  Object.assign(process, { hasChanged: false, seenAttempts: 0 })
  for (const attempt of attemptIds(world)) {
    if (!entry(world.attempts, attempt).isTaking) continue
    process.seenAttempts |= SOMETHING
    // Judged before the rows are read: what opens late comes before.
    if (isLeaseOver(world, attempt)) process.seenAttempts |= 1 << attempt
  }
  world.releases.forEach(({ attempt: about, isDeletion, isLeaseOver: isOver }, release) => {
    if (about === 0) return
    process.seenAttempts |= SOMETHING
    if (!isOver) return
    const next = isDeletion ? 'resolveDeletion.retire' : 'resolver.findUndone'
    choices.push({ label: `sees release ${release} of ${about}, overdue`, next, about, release })
  })
  choices.push({ label: 'reads the counter', next: 'resolver.rows' })
  return choices
}

function readRows(world: World, { seenAttempts }: Process): Choice[] {
  const choices: Choice[] = []
  for (const about of attemptIds(world)) {
    if ((seenAttempts & (1 << about)) === 0) continue
    const next = hasRow(world, about) ? 'resolver.unmark' : 'resolver.findTaking'
    choices.push({ label: `sees taking ${about}, ${hasRow(world, about) ? 'with' : 'without'} its row`, next, about })
  }
  let isEmpty = seenAttempts === 0
  for (const { row } of world.places) {
    if (row.attempt === 0) continue
    isEmpty = false
    if (!isLeaseOver(world, row.attempt)) continue
    const { attempt: about, closedBy: release } = row
    if (row.isFence) choices.push({ label: `sees a fence of ${about}`, next: 'resolver.discardFenced', about })
    else if (release === 0) choices.push({ label: `sees row ${about}`, next: 'resolveRow.fence', about })
    else choices.push({ label: `sees row ${about}, closed`, next: 'resolver.findRelease', about, release })
  }
  for (const about of attemptIds(world)) {
    const { watch } = entry(world.attempts, about)
    if (watch !== NO_WATCH) isEmpty = false
    if (watch === WATCH_OVER) choices.push({ label: `sees a watch for ${about}`, next: 'resolver.discardLate', about })
  }
  if (isEmpty) choices.push({ label: 'sees nothing', next: 'resolver.reschedule' })
  return choices.length > 0 ? choices : [{ label: 'sees nothing that is overdue', next: 'waiting' }]
}

/** lib/promotion/resolve-workspace.ts */
export function resolverSteps(): Steps {
  const end = 'waiting'
  const ends = { done: end, failed: end }
  return {
    'resolver.start': { read: readCounter },
    'resolver.rows': { read: readRows },

    'resolver.unmark': { write: 'unmark', on: ends },
    /** A row goes after its marker only. So: no row, and then still a marker, means that there never was a row. */
    'resolver.findTaking': {
      read: (world, { about }) => {
        if (!entry(world.attempts, about).isTaking) return [{ label: 'does not find the taking any more', next: end }]
        return [{ label: 'still finds the taking', next: hasKey(world, about) ? 'resolver.release' : 'resolver.watch' }]
      },
    },
    'resolver.watch': { write: 'watch', on: { done: 'resolver.discard', failed: end } },
    'resolver.discard': { write: 'discard', on: { done: 'resolver.release', failed: end } },
    'resolver.release': { write: 'release', on: ends },

    'resolver.discardFenced': { write: 'discard', on: { done: 'resolver.removeFence', failed: end } },
    'resolver.removeFence': { write: 'remove', on: ends },
    'resolver.discardLate': { write: 'discard', on: { done: 'resolver.removeWatch', failed: end } },
    'resolver.removeWatch': { write: 'removeWatch', on: ends },

    ...undo('resolveRow', () => true, { recorded: 'settleRow.unmark', undone: end, failed: end }),
    ...settle('settleRow', end, end),
    /** The marker is written before the closing, and goes with the bytes: if it is gone, they were given back. */
    'resolver.findRelease': {
      read: (world, { release }) => {
        if (entry(world.releases, release).attempt !== 0) return [{ label: 'finds the release', next: end }]
        return [{ label: 'does not find the release any more', next: 'resolver.removeClosed' }]
      },
    },
    'resolver.removeClosed': { write: 'remove', on: ends },

    'resolver.findUndone': {
      read: (world, { about }) => {
        if (!hasRow(world, about)) return [{ label: 'finds no row', next: 'resolveUndo.close' }]
        return [{ label: 'finds the row', next: 'resolver.discardUndone' }]
      },
    },
    'resolver.discardUndone': { write: 'discard', on: { done: 'resolveUndo.close', failed: end } },
    ...completeUndo('resolveUndo', end, end),
    ...completeDeletion('resolveDeletion', end, end),

    'resolver.reschedule': { write: 'reschedule', on: ends },
  }
}
