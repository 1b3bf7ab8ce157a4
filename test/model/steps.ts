import type { Process, World } from './world.ts'
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
export const TWIN_RECORDED = 2

/** Where a part of the protocol that several processes share leads to. */
export interface UndoEnds {
  recorded: Next
  undone: Next
  failed: Next
}

/** lib/promotion/end-attempt.ts: ends an attempt whose reservation is open. */
export function undo(name: string, mayCopyArrive: (process: Process) => boolean, ends: UndoEnds): Steps {
  const { failed } = ends
  const at = (step: string) => `${name}.${step}`
  const fenced: Next = (_, process) => {
    // There is no document, and there will be none: an error may say so.
    if (process.memo === RECORD_UNANSWERED) process.memo = 0
    return at(mayCopyArrive(process) ? 'watch' : 'unmark')
  }
  return {
    [at('fence')]: { write: 'fence', on: { fenced, inTheWay: at('fenceBeside'), failed } },
    [at('fenceBeside')]: { write: 'fenceBeside', on: { fenced, recorded: ends.recorded, failed } },
    [at('watch')]: { write: 'watch', on: { done: at('unmark'), failed } },
    [at('unmark')]: { write: 'unmark', on: { done: at('discard'), failed } },
    [at('discard')]: { write: 'discard', on: { done: at('mark'), failed } },
    [at('mark')]: { write: 'mark', inRelease: true, on: { done: at('close'), failed } },
    ...completeUndo(name, ends.undone, failed),
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

/** lib/promotion/release-bytes.ts: whoever finds the marker can do this. */
export function completeUndo(name: string, completed: Next, failed: Next): Steps {
  const at = (step: string) => `${name}.${step}`
  return {
    [at('close')]: {
      write: 'close',
      inRelease: true,
      on: { closed: at('release'), absent: at('unmarkRelease'), failed },
    },
    [at('release')]: { write: 'release', inRelease: true, on: { done: at('remove'), failed } },
    [at('remove')]: { write: 'remove', on: { done: completed, failed } },
    [at('unmarkRelease')]: { write: 'unmark', inRelease: true, on: { done: completed, failed } },
  }
}

/** lib/promotion/release-bytes.ts, of a deletion. */
export function completeDeletion(name: string, completed: Next, failed: Next): Steps {
  const at = (step: string) => `${name}.${step}`
  return {
    [at('retire')]: {
      write: 'retire',
      inRelease: true,
      on: { retired: at('discard'), absent: at('unmarkRelease'), failed },
    },
    [at('discard')]: { write: 'discard', on: { done: at('release'), failed } },
    [at('release')]: { write: 'release', inRelease: true, on: { done: at('finish'), failed } },
    [at('finish')]: { write: 'finish', inRelease: true, on: { done: at('unmarkRelease'), failed } },
    [at('unmarkRelease')]: { write: 'unmark', inRelease: true, on: { done: completed, failed } },
  }
}
