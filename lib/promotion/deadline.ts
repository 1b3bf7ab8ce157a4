/** How long a request may work, and how long it may then take its work back. */
export interface Deadline {
  /** Aborts when it is time to stop working and to undo. */
  readonly signal: AbortSignal
  /** A fresh signal for undoing, which aborts just before the process is stopped. */
  undoSignal(): AbortSignal
}

/** Kept back from working, so that the undo and the error answer fit into what is left. */
const KEPT_FOR_UNDO_MS = 2500
/** Kept back from undoing, so that the answer still goes out. */
const KEPT_FOR_ANSWER_MS = 300

/** @param remainingMs tells how many milliseconds the process has left, at any time */
export function createDeadline(remainingMs: () => number): Deadline {
  const abortBefore = (keptMs: number) => AbortSignal.timeout(Math.max(0, Math.floor(remainingMs() - keptMs)))
  return { signal: abortBefore(KEPT_FOR_UNDO_MS), undoSignal: () => abortBefore(KEPT_FOR_ANSWER_MS) }
}
