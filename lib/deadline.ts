/** How long a request may work, and how long it may then take to undo its work. */
export interface Deadline {
  /** Aborts when it is time to stop working and to undo. */
  readonly signal: AbortSignal
  /** A fresh signal for undoing, which aborts just before the process is stopped. */
  undoSignal(): AbortSignal
}

/** Reserved for the undo and the error answer. */
const KEPT_FOR_UNDO_MS = 2500
/** Reserved for the answer. */
const KEPT_FOR_ANSWER_MS = 300

/** @param remainingMs tells how many milliseconds are left, at any time */
export function createDeadline(remainingMs: () => number): Deadline {
  const abortBefore = (keptMs: number) => AbortSignal.timeout(Math.max(0, Math.floor(remainingMs() - keptMs)))
  return { signal: abortBefore(KEPT_FOR_UNDO_MS), undoSignal: () => abortBefore(KEPT_FOR_ANSWER_MS) }
}

/** API Gateway's integration timeout: then it answers 503 in our place, whatever we still do. */
const GATEWAY_TIMEOUT_MS = 29_000
/** No process takes longer to start; what looks longer is a clock that is off, and costs no more than this. */
const LONGEST_START_MS = 20_000

/**
 * The deadline of a request: before the gateway gives up waiting, which counts from when the request came in and not from
 * when a process had started for it, and before the process is stopped.
 *
 * @param request.receivedAtMs by the gateway's clock, ms since 1970; undefined when it does not say
 * @param request.nowMs by ours
 * @param processRemainingMs tells how many milliseconds the process has left, at any time
 */
export function createRequestDeadline(
  { receivedAtMs, nowMs }: { receivedAtMs: number | undefined; nowMs: number },
  processRemainingMs: () => number,
): Deadline {
  const elapsedMs = receivedAtMs === undefined ? 0 : nowMs - receivedAtMs
  const waitedMs = Math.min(Math.max(0, elapsedMs), LONGEST_START_MS)
  // From here on a monotonic clock counts.
  const gatewayGivesUpAtMs = performance.now() + GATEWAY_TIMEOUT_MS - waitedMs
  return createDeadline(() => Math.min(processRemainingMs(), gatewayGivesUpAtMs - performance.now()))
}
