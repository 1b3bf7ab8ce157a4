import { createRandom } from '../statistics.ts'

/** What transactions on one hot item come to. Times in milliseconds of a clock of its own: nothing waits. */
export interface TransactionStorm {
  done: number
  /** Gave up after the last try. */
  failed: number
  attempts: number
  conflicts: number
  /** Of DynamoDB, those of cancelled transactions included. */
  writeUnits: number
  lastDoneMs: number
}

interface StormOptions {
  promotions: number
  maxAttempts: number
}

/** A transaction prepares all its items and then commits them: the item is taken for this long. */
const HELD_MS = 10
/** From the request to the first item being looked at, and from the last one to the answer. */
const WAY_MS = 2
/** Two items, each prepared and committed. */
const UNITS_OF_TRANSACTION = 4
const FIRST_BACKOFF_MS = 50
const LONGEST_BACKOFF_MS = 20_000

/**
 * Promotions that count their bytes by TransactWriteItems (workspace counter and a marker of its own), all started at once
 * on one workspace. As DynamoDB documents it, a transaction is cancelled with TransactionConflict when another one holds the
 * item; the SDK does not repeat it, so that its caller must, by exponential backoff with full jitter.
 */
export function simulateTransactions({ promotions, maxAttempts }: StormOptions): TransactionStorm {
  const random = createRandom(7)
  const storm = { done: 0, failed: 0, attempts: 0, conflicts: 0, writeUnits: 0, lastDoneMs: 0 }
  const arrivals = Array.from({ length: promotions }, () => ({ atMs: random() * 5, attempt: 1 }))
  let heldUntilMs = 0
  while (arrivals.length > 0) {
    const next = arrivals.reduce((first, each) => (each.atMs < first.atMs ? each : first))
    const arrivedMs = next.atMs + WAY_MS
    storm.attempts++
    storm.writeUnits += UNITS_OF_TRANSACTION
    if (arrivedMs >= heldUntilMs) {
      heldUntilMs = arrivedMs + HELD_MS
      storm.done++
      storm.lastDoneMs = heldUntilMs + WAY_MS
      arrivals.splice(arrivals.indexOf(next), 1)
      continue
    }
    storm.conflicts++
    if (next.attempt === maxAttempts) {
      storm.failed++
      arrivals.splice(arrivals.indexOf(next), 1)
      continue
    }
    const backoffMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (next.attempt - 1)) * random()
    next.attempt++
    next.atMs = arrivedMs + WAY_MS + backoffMs
  }
  return storm
}
