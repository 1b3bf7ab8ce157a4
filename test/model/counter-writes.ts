import { NO_RELEASE } from './empty-world.ts'
import { type Call, entry, LISTING, type World } from './world.ts'
import type { Write } from './writes.ts'

function removeMarker(world: World, { attempt, release }: Call): void {
  if (release === 0) entry(world.attempts, attempt).isTaking = false
  else Object.assign(entry(world.releases, release), NO_RELEASE)
}

const mark = (isDeletion: boolean): Write => ({
  sent: 'afresh',
  isOfCounter: true,
  where: [['IS_NEW_MARKER', 'IS_NOT_CROWDED']],
  effect: (world, { attempt, release }) => {
    Object.assign(entry(world.releases, release), { attempt, isDeletion })
    world.isDue = true
    if (world.cut.phase !== 0) world.cut.laterReleases |= 1 << release
  },
  applied: 'done',
  refused: 'done',
})

function countBits(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}

/** What the audit has found: what its call to correct is about. */
export const TOO_MANY = 1
export const TOO_FEW = 2

/** The bytes that an audit has added up. */
export const addedUp = (seenAttempts: number): number => countBits(seenAttempts)

/** Writes of the workspace's item. */
export function counterWrites() {
  return {
    take: {
      sent: 'once',
      isOfCounter: true,
      where: [['HAS_ROOM', 'IS_NEW_MARKER', 'IS_NOT_CROWDED']],
      effect: (world, { attempt }) => {
        world.used++
        entry(world.attempts, attempt).isTaking = true
        world.isDue = true
        if (world.cut.phase !== 0) world.cut.later |= 1 << attempt
      },
      applied: 'done',
      refused: 'refused',
    },
    mark: mark(false),
    markDeletion: mark(true),
    schedule: {
      sent: 'repeatedly',
      isOfCounter: true,
      where: [[]],
      effect: (world) => {
        world.isDue = true
      },
      applied: 'done',
      refused: 'done',
    },
    unmark: {
      sent: 'repeatedly',
      isOfCounter: true,
      where: [['IS_MARKED']],
      effect: removeMarker,
      applied: 'done',
      refused: 'done',
    },
    release: {
      sent: 'repeatedly',
      isOfCounter: true,
      where: [['IS_MARKED']],
      effect: (world, call) => {
        world.used--
        const isUndo = call.release !== 0 && !entry(world.releases, call.release).isDeletion
        if (world.cut.phase === LISTING && isUndo) world.cut.isUndone = true
        removeMarker(world, call)
      },
      applied: 'done',
      refused: 'done',
    },
    /** The resolver found nothing (left): check_due_at goes. */
    reschedule: {
      sent: 'ifUnchanged',
      where: [['IS_SAME_VERSION']],
      effect: (world) => {
        world.isDue = false
      },
      applied: 'done',
      refused: 'done',
    },
    /** The audit changes the used bytes by its difference. There is one drift in a run: it is corrected once. */
    correct: {
      sent: 'repeatedly',
      isOfCounter: true,
      where: [['IS_NOT_CORRECTED']],
      effect: (world, { attempt: difference }) => {
        const excess = difference === TOO_MANY ? 1 : -1
        world.used -= excess
        world.drift -= excess
        world.isCorrected = true
      },
      applied: 'done',
      refused: 'done',
    },
  } satisfies Record<string, Write>
}
