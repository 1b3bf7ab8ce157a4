export interface ConcurrencyLimit {
  /** How many may run at the same time now. */
  current(): number
  /** Identifies the limit that a task starts under. */
  round(): number
  succeeded(): void
  /** @returns false when there is nothing left to slow down: even one at a time was refused */
  slowDown(round: number): boolean
}

/**
 * Additive increase, multiplicative decrease, as TCP finds its rate: a refusal halves what runs at once, each round of
 * successes adds one. Refusals of tasks that started before the last halving say nothing new.
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
