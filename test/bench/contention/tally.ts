import type { Consumption } from '../../support/dynamodb/limited-dynamodb.ts'

/** The calls on the workspace's item, without reads. */
export interface LedgerUse {
  throttled: number
  /** Units of a write that was done. */
  largestWrite: number
}

/** Adds up what writes of the ledger cost. */
export function createTally(): { count(call: Consumption): void; read(): LedgerUse; reset(): void } {
  const nothing = (): LedgerUse => ({ throttled: 0, largestWrite: 0 })
  let tally = nothing()
  return {
    count({ table, operation, units, outcome }) {
      if (!table.endsWith('-workspaces') || operation === 'GetItem') return
      if (outcome === 'throttled') tally.throttled++
      else if (outcome === 'done') tally.largestWrite = Math.max(tally.largestWrite, units)
    },
    read: () => tally,
    reset() {
      tally = nothing()
    },
  }
}
