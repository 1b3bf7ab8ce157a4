export interface ConcurrencyLimit {
  current(): number
  /** Identifies the limit under which a task starts. */
  round(): number
  succeeded(): void
  /** @returns false when it cannot slow down further: even a single task was refused */
  slowDown(round: number): boolean
}

/**
 * Additive increase, multiplicative decrease, as in TCP: a refusal halves the limit, a round of successes adds one.
 * Refusals of tasks that started before the last halving say nothing new.
 */
export function createConcurrencyLimit(most: number): ConcurrencyLimit {
  let limit = most
  let round = 0
  return {
    current: () => Math.floor(limit),
    round: () => round,
    succeeded() {
      limit = Math.min(most, limit + 1 / limit)
    },
    slowDown(startedIn) {
      if (startedIn !== round) return true
      if (limit < 2) return false
      limit = Math.floor(limit / 2)
      round++
      return true
    },
  }
}
