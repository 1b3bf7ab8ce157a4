export type Deadline = ReturnType<typeof createDeadline>

const KEPT_FOR_UNDO_MS = 2500
const KEPT_FOR_ANSWER_MS = 300

export function createDeadline(remainingMs: () => number) {
  const abortBefore = (keptMs: number) => AbortSignal.timeout(Math.max(0, Math.floor(remainingMs() - keptMs)))
  return {
    /** Aborts when it is time to stop working and to undo. */
    signal: abortBefore(KEPT_FOR_UNDO_MS),
    leftMs: () => remainingMs() - KEPT_FOR_UNDO_MS,
    /** A fresh signal for undoing, which aborts just before the process is stopped. */
    undoSignal: () => abortBefore(KEPT_FOR_ANSWER_MS),
  }
}

/** API Gateway's integration timeout: after it, the gateway answers 503 in our place, whatever we do. */
const GATEWAY_TIMEOUT_MS = 29_000
/** No process takes longer to start. If one seems to, a clock is wrong, which must not cost more than this. */
const MAX_BELIEVED_WAIT_MS = 20_000

/**
 * Ends before the process is stopped, and before the gateway gives up. The gateway counts from the receipt of the
 * request, not from the start of a process for it.
 * @param request.receivedAtMs by the gateway's clock, ms since 1970, as `nowMs` is by ours
 */
export function createRequestDeadline(
  { receivedAtMs, nowMs }: { receivedAtMs: number | undefined; nowMs: number },
  processRemainingMs: () => number,
): Deadline {
  const elapsedMs = receivedAtMs === undefined ? 0 : nowMs - receivedAtMs
  const waitedMs = Math.min(Math.max(0, elapsedMs), MAX_BELIEVED_WAIT_MS)
  // From here on, time is measured by a monotonic clock.
  const gatewayGivesUpAtMs = performance.now() + GATEWAY_TIMEOUT_MS - waitedMs
  return createDeadline(() => Math.min(processRemainingMs(), gatewayGivesUpAtMs - performance.now()))
}
