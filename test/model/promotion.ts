import { hasEnded, type Next, RECORD_UNANSWERED, type Steps, settle, TWIN_RECORDED, undo } from './steps.ts'
import { DOCUMENT, entry, FAILED, PENDING, type Process, placeOf, SUCCEEDED, UNANSWERED, type World } from './world.ts'

interface PromotionRole {
  attempt: number
  hasKey: boolean
}

export function promotionOf(world: World, index: number): PromotionRole {
  const role = entry(world.setup.roles, index)
  return role.kind === 'promotion' ? role : { attempt: 0, hasKey: false }
}

/** The answer after an undo, or after one that failed. */
const answer: Next = (_, { memo }) => {
  if (memo === TWIN_RECORDED) return 'answeredWithTwins'
  return memo === RECORD_UNANSWERED ? 'unsure' : 'failed'
}

const mayCopyArrive = ({ copy }: Process): boolean => copy === UNANSWERED

const remember =
  (memo: number, next: string): Next =>
  (_, process) => {
    process.memo = memo
    return next
  }

/** Where a promotion goes once its reservation is open, by what became of the copy beside it. */
export function afterCopy(process: Process): string {
  if (process.copy === PENDING) return 'promotion.copying'
  return process.copy === SUCCEEDED ? 'promotion.record' : 'undo.afterUnmark'
}

/** With an Idempotency-Key nothing was copied before the reservation was open. */
const undoUnopened: Next = (_, process) => {
  if (mayCopyArrive(process)) return 'unopened.watch'
  return process.copy === PENDING ? 'unopened.release' : 'unopened.discard'
}

/** Nobody tries to remove the marker beside this. */
const undoOpened: Next = (_, process) => {
  process.unmarked = FAILED
  return 'undo.fence'
}

const own =
  (next: string): Next =>
  (world, process, index) => {
    process.about = promotionOf(world, index).attempt
    process.release = 0
    return next
  }

export function promotionSteps(): Steps {
  return {
    'promotion.start': {
      read: (world, _, index) => {
        const { attempt, hasKey } = promotionOf(world, index)
        const isReplay = hasKey && placeOf(world, attempt).document.kind === DOCUMENT
        if (isReplay) return [{ label: 'finds the document of its twin', next: 'answeredWithTwins' }]
        return [{ label: 'begins', next: 'promotion.take', about: attempt }]
      },
    },
    'promotion.take': {
      write: 'take',
      on: { done: 'promotion.open', refused: 'refused', failed: 'unopened.release' },
    },
    'promotion.open': {
      write: 'open',
      on: {
        done: (_, process) => afterCopy(process),
        inProgress: 'promotion.inProgress',
        failed: 'promotion.inDoubt',
      },
    },
    /** The reservation is open; waits for the copy. */
    'promotion.copying': { read: () => [] },
    'promotion.record': {
      write: 'record',
      on: {
        done: 'promotion.settle',
        fenced: 'undo.afterUnmark',
        taken: remember(TWIN_RECORDED, 'undo.afterUnmark'),
        failed: remember(RECORD_UNANSWERED, 'undo.afterUnmark'),
      },
    },
    /** Once the marker is gone, or could not be removed beside the copy. */
    'promotion.settle': {
      read: (_, { unmarked }) => {
        if (unmarked === PENDING) return []
        return [{ label: 'settles', next: unmarked === SUCCEEDED ? 'settle.remove' : 'settle.unmark' }]
      },
    },
    ...settle('settle', 'succeeded', 'succeeded'),

    // Undo: lib/promotion/end-attempt.ts
    /** A copy that is under way beside the opening is not broken off. */
    'promotion.inDoubt': {
      read: (world, { copy }, index) => {
        if (copy === PENDING && !promotionOf(world, index).hasKey) return []
        return [{ label: 'undoes', next: 'promotion.forestall' }]
      },
    },
    'promotion.forestall': {
      write: 'forestall',
      on: { forestalled: undoUnopened, open: undoOpened, occupied: answer, failed: answer },
    },
    'unopened.watch': { write: 'watch', on: { done: 'unopened.discard', failed: answer } },
    'unopened.discard': { write: 'discard', on: { done: 'unopened.release', failed: answer } },
    'unopened.release': { write: 'release', on: { done: answer, failed: answer } },
    'undo.afterUnmark': {
      read: (_, { unmarked }) => (unmarked === PENDING ? [] : [{ label: 'undoes', next: 'undo.fence' }]),
    },
    ...undo('undo', mayCopyArrive, { recorded: 'promotion.settle', undone: answer, failed: answer }),

    // Another attempt's reservation is in the way: lib/promotion/open-reservation.ts
    'promotion.inProgress': {
      read: (world, _, index) => {
        const { row } = placeOf(world, promotionOf(world, index).attempt)
        const choices = [
          { label: 'gives way to its twin', next: 'unopened.release', about: promotionOf(world, index).attempt },
        ]
        const isOpen = row.attempt !== 0 && !row.isFence && row.closedBy === 0
        const isDead = world.processes.some(
          (other, at) => promotionOf(world, at).attempt === row.attempt && hasEnded(other),
        )
        if (isOpen && isDead) choices.push({ label: 'takes over', next: 'takeOver.fence', about: row.attempt })
        return choices
      },
    },
    ...undo('takeOver', () => true, {
      recorded: 'settleTwin.unmark',
      undone: own('promotion.open'),
      failed: own('promotion.forestall'),
    }),
    ...settle('settleTwin', own('promotion.open'), own('promotion.forestall')),
  }
}

/**
 * What goes on beside the named steps: the copy (with an Idempotency-Key, only once the reservation is open) and the
 * removal of the marker.
 */
export const LANES = [
  {
    step: 'lane.copy',
    field: 'copy',
    during: ['promotion.copying'],
    withoutKey: ['promotion.open', 'promotion.inDoubt'],
  },
  {
    step: 'lane.unmark',
    field: 'unmarked',
    during: ['promotion.copying', 'promotion.record', 'promotion.settle', 'undo.afterUnmark'],
    withoutKey: [],
  },
] as const

export function laneSteps(): Steps {
  const note =
    (field: 'copy' | 'unmarked', answer: typeof SUCCEEDED | typeof FAILED | typeof UNANSWERED): Next =>
    (_, process) => {
      process[field] = answer
      return 'lane.end'
    }
  return {
    'lane.copy': {
      write: 'copy',
      on: { done: note('copy', SUCCEEDED), refused: note('copy', FAILED), failed: note('copy', UNANSWERED) },
    },
    'lane.unmark': { write: 'unmark', on: { done: note('unmarked', SUCCEEDED), failed: note('unmarked', FAILED) } },
    'lane.end': { read: () => [] },
  }
}
