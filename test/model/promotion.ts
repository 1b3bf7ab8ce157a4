import { hasEnded, type Next, RECORD_UNANSWERED, type Steps, settle, undo } from './steps.ts'
import {
  CLAIM,
  DOCUMENT,
  entry,
  FAILED,
  NOTHING,
  PENDING,
  type Process,
  placeOf,
  SUCCEEDED,
  UNANSWERED,
  type World,
} from './world.ts'

interface PromotionRole {
  attempt: number
  hasKey: boolean
}

export function promotionOf(world: World, index: number): PromotionRole {
  const role = entry(world.setup.roles, index)
  return role.kind === 'promotion' ? role : { attempt: 0, hasKey: false }
}

/** The answer after an undo, or after one that failed. */
const answer = (_: World, { memo }: Process): string => (memo === RECORD_UNANSWERED ? 'unsure' : 'failed')

const mayCopyArrive = ({ copy }: Process): boolean => copy === UNANSWERED

const ifKeyed =
  (keyed: string, plain: string): Next =>
  (world, _, index) =>
    promotionOf(world, index).hasKey ? keyed : plain

/** Where a promotion goes once its reservation is open, by what became of the copy beside it. */
export function afterCopy(process: Process): string {
  if (process.copy === PENDING) return 'promotion.copying'
  return process.copy === SUCCEEDED ? 'promotion.record' : 'undo.afterUnmark'
}

/** Waits until the copy beside has ended. */
const copyEnds = (next: string) => ({
  read: (_: World, { copy }: Process) => (copy === PENDING ? [] : [{ label: 'sees the copy end', next }]),
})

const discardCopy = (world: World, process: Process): string =>
  process.copy === PENDING ? answer(world, process) : 'unopened.discard'

const own =
  (next: string): Next =>
  (world, process, index) => {
    process.about = promotionOf(world, index).attempt
    process.release = 0
    return next
  }

/** What the refused claim tells of the other attempt: lib/promotion/claim-document.ts. */
const meet: Next = (world, process, index) => {
  const { attempt, purpose, closedBy } = placeOf(world, promotionOf(world, index).attempt).row
  if (closedBy !== 0) return 'promotion.giveWay'
  process.about = attempt
  return purpose === CLAIM ? 'promotion.meetClaim' : 'promotion.meetRow'
}

const meeting = (takeOver: string) => ({
  read: (world: World, { about }: Process) => {
    const choices = [{ label: 'gives way to its twin', next: own('promotion.giveWay') }] as {
      label: string
      next: Next
    }[]
    const isDead = world.processes.some((other, at) => promotionOf(world, at).attempt === about && hasEnded(other))
    if (isDead || world.setup.areLeasesWrong) choices.push({ label: `takes ${about} for dead`, next: takeOver })
    return choices
  },
})

export function promotionSteps(): Steps {
  const claimed = { done: own('promotion.replay'), failed: own('promotion.giveWay') }
  const afterTwin = { failed: own('promotion.giveWay') }
  return {
    'promotion.start': {
      read: (world, _, index) => {
        const { attempt, hasKey } = promotionOf(world, index)
        const { kind, attempt: other } = placeOf(world, attempt).document
        if (hasKey && kind === DOCUMENT) return [{ label: 'finds the document of its twin', next: 'answeredWithTwins' }]
        if (hasKey && other !== 0) return [{ label: 'finds that its document was deleted', next: 'refused' }]
        return [{ label: 'begins', next: hasKey ? 'promotion.claim' : 'promotion.take', about: attempt }]
      },
    },
    'promotion.claim': { write: 'claim', on: { ...claimed, inTheWay: meet } },
    'promotion.meetClaim': meeting('promotion.noteDead'),
    'promotion.meetRow': meeting('takeOver.fence'),
    'promotion.noteDead': { write: 'noteLateCopy', on: { ...afterTwin, done: 'promotion.claimAgain' } },
    ...undo('takeOver', () => true, { recorded: 'settleTwin.unmark', undone: 'promotion.claimAgain', ...afterTwin }),
    ...settle('settleTwin', 'promotion.claimAgain', own('promotion.giveWay')),
    'promotion.claimAgain': { write: 'claim', on: { ...claimed, inTheWay: own('promotion.giveWay') } },
    'promotion.giveWay': { write: 'remove', on: { done: 'failed', failed: 'failed' } },
    'promotion.replay': {
      read: (world, { about }) => {
        const { kind, attempt } = placeOf(world, about).document
        if (kind === NOTHING || attempt === 0) return [{ label: 'finds no twin', next: 'promotion.take' }]
        return [{ label: 'finds what its twin has left', next: 'promotion.giveWay' }]
      },
    },

    'promotion.take': {
      write: 'take',
      on: {
        done: ifKeyed('promotion.openClaimed', 'promotion.open'),
        refused: ifKeyed('promotion.giveWay', 'refused'),
        failed: 'unopened.release',
      },
    },
    'promotion.open': {
      write: 'open',
      on: { done: (_, process) => afterCopy(process), refused: 'promotion.unopened', failed: 'promotion.inDoubt' },
    },
    'promotion.openClaimed': {
      write: 'openClaimed',
      on: { done: (_, process) => afterCopy(process), refused: 'promotion.unopened', failed: 'promotion.inDoubt' },
    },
    /** The reservation is open; waits for the copy. */
    'promotion.copying': { read: () => [] },
    /** It may be open, or become so: left to the resolver. */
    'promotion.inDoubt': copyEnds('failed'),
    'promotion.record': {
      write: 'record',
      on: {
        done: 'promotion.settle',
        refused: 'undo.afterUnmark',
        failed: (_, process) => {
          process.memo = RECORD_UNANSWERED
          return 'undo.afterUnmark'
        },
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

    // lib/promotion/end-attempt.ts
    'promotion.unopened': copyEnds('unopened.note'),
    'unopened.note': { write: 'noteLateCopy', on: { done: 'unopened.release', failed: answer } },
    'unopened.release': {
      write: 'release',
      on: {
        done: (world, process, index) =>
          promotionOf(world, index).hasKey ? 'unopened.remove' : discardCopy(world, process),
        failed: answer,
      },
    },
    'unopened.remove': { write: 'remove', on: { done: discardCopy, failed: answer } },
    'unopened.discard': {
      write: 'discard',
      on: {
        done: (world, process) => (mayCopyArrive(process) ? answer(world, process) : 'unopened.removeNote'),
        failed: answer,
      },
    },
    'unopened.removeNote': { write: 'removeLateCopy', on: { done: answer, failed: answer } },
    'undo.afterUnmark': {
      read: (_, { unmarked }) => (unmarked === PENDING ? [] : [{ label: 'undoes', next: 'undo.fence' }]),
    },
    ...undo('undo', mayCopyArrive, { recorded: 'promotion.settle', undone: answer, failed: answer }),
  }
}

/** What goes on beside the named steps: the copy, beside the opening; and the removal of the marker. */
export const LANES = [
  {
    step: 'lane.copy',
    field: 'copy',
    during: ['promotion.open', 'promotion.openClaimed', 'promotion.copying', 'promotion.inDoubt', 'promotion.unopened'],
  },
  {
    step: 'lane.unmark',
    field: 'unmarked',
    during: ['promotion.copying', 'promotion.record', 'promotion.settle', 'undo.afterUnmark'],
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
