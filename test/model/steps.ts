import { type Process, placeOf, type World } from './world.ts'
import type { WriteName } from './writes.ts'

/** Where a process goes next: a step, or the one that the moment asks for. Such a function may change the process. */
export type Next = string | ((world: World, process: Process, index: number) => string)

/** Sends a write and waits for its answer. */
export interface WriteStep {
  write: WriteName
  /** It is about the marker of the process's release, or made in its name; else about the taking of the attempt. */
  inRelease?: true
  /** By answer. `failed`: given up, whatever became of it. */
  on: Record<string, Next>
}

export interface Choice {
  label: string
  next: Next
  about?: number
  release?: number
}

/** Reads, and goes on by what it has read. More than one choice: in any of these ways. None: it has to wait. */
export interface ReadStep {
  read(world: World, process: Process, index: number): Choice[]
}

export type Step = WriteStep | ReadStep
export type Steps = Record<string, Step>

/** Where a process ends. `waiting` may begin (again); `dead` was killed; `unsure` answered 5xx, not knowing better. */
export const ENDS = [
  'waiting',
  'succeeded',
  'answeredWithTwins',
  'refused',
  'failed',
  'unsure',
  'dead',
  'ended',
] as const
export type End = (typeof ENDS)[number]

export const endOf = (process: Process): End | undefined => ENDS[process.step]
export const hasEnded = (process: Process): boolean => process.step > 0 && process.step < ENDS.length

/** What a promotion keeps in mind for its answer. */
export const RECORD_UNANSWERED = 1

/** Where a part of the protocol that several processes share leads to. */
export interface UndoEnds {
  recorded: Next
  undone: Next
  failed: Next
}

/** Makes sure that an attempt can never record its document: the two writes of `fence`. */
export function fence(name: string, ends: { fenced: Next; recorded: Next; failed: Next }): Steps {
  const { fenced, recorded, failed } = ends
  return {
    [`${name}.fence`]: { write: 'fence', on: { fenced, inTheWay: `${name}.fenceBeside`, failed } },
    [`${name}.fenceBeside`]: { write: 'fenceBeside', on: { fenced, recorded, failed } },
  }
}

/** lib/promotion/end-attempt.ts: ends an attempt whose reservation is open. */
export function undo(name: string, mayCopyArrive: (process: Process) => boolean, ends: UndoEnds): Steps {
  const { recorded, failed } = ends
  const at = (step: string) => `${name}.${step}`
  const fenced: Next = (_, process) => {
    // There is no document, and there will be none: an error may say so.
    if (process.memo === RECORD_UNANSWERED) process.memo = 0
    return at(mayCopyArrive(process) ? 'note' : 'unmark')
  }
  return {
    ...fence(name, { fenced, recorded, failed }),
    [at('note')]: { write: 'noteLateCopy', on: { done: at('unmark'), failed } },
    [at('unmark')]: { write: 'unmark', on: { done: at('discard'), failed } },
    [at('discard')]: { write: 'discard', on: { done: at('mark'), failed } },
    [at('mark')]: { write: 'mark', inRelease: true, on: { done: at('close'), failed } },
    ...completeRelease(name, 'undo', ends.undone, failed),
  }
}

/** lib/promotion/end-attempt.ts: ends an attempt whose document is recorded. */
export function settle(name: string, settled: Next, failed: Next): Steps {
  const at = (step: string) => `${name}.${step}`
  return {
    [at('unmark')]: { write: 'unmark', on: { done: at('remove'), failed } },
    [at('remove')]: { write: 'remove', on: { done: settled, failed } },
  }
}

/** Goes on with the release that was faster. */
const takeUp =
  (next: string): Next =>
  (_, process) => {
    process.release = 31 - Math.clz32(process.seenReleases)
    process.seenReleases = 0
    return next
  }

/** lib/promotion/release-bytes.ts: whoever finds the marker can do this. */
export function completeRelease(name: string, purpose: 'undo' | 'deletion', completed: Next, failed: Next): Steps {
  const at = (step: string) => `${name}.${step}`
  const isUndo = purpose === 'undo'
  const byOther: Next = (world, process) => {
    const { row, document } = placeOf(world, process.about)
    process.seenReleases = 1 << (isUndo ? row : document).closedBy
    return at('unmarkOwn')
  }
  return {
    [at('close')]: {
      write: isUndo ? 'close' : 'closeTombstone',
      inRelease: true,
      on: { closed: at('release'), byOther, absent: at('unmarkVain'), failed },
    },
    [at('unmarkOwn')]: { write: 'unmark', inRelease: true, on: { done: takeUp(at('release')), failed } },
    [at('unmarkVain')]: { write: 'unmark', inRelease: true, on: { done: completed, failed } },
    [at('release')]: { write: 'release', inRelease: true, on: { done: at('finish'), failed } },
    [at('finish')]: { write: isUndo ? 'remove' : 'finish', inRelease: true, on: { done: completed, failed } },
  }
}

/** lib/promotion/delete-document.ts: what the resolver can go on with. */
export function completeDeletion(name: string, completed: Next, failed: Next): Steps {
  const at = (step: string) => `${name}.${step}`
  const retired: Next = (world, process) => {
    const { closedBy } = placeOf(world, process.about).document
    process.seenReleases = closedBy === 0 ? 0 : 1 << closedBy
    return at('discard')
  }
  const discarded: Next = (world, process, index) => {
    if (process.seenReleases === 0) return at('mark')
    const next = takeUp(at('release'))
    return typeof next === 'string' ? next : next(world, process, index)
  }
  return {
    [at('retire')]: { write: 'retire', on: { retired, absent: at('removeNote'), failed } },
    [at('discard')]: { write: 'discard', on: { done: discarded, failed } },
    [at('mark')]: { write: 'markDeletion', inRelease: true, on: { done: at('close'), failed } },
    ...completeRelease(name, 'deletion', at('removeNote'), failed),
    [at('removeNote')]: { write: 'removeDeletion', on: { done: completed, failed } },
  }
}
