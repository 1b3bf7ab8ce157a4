import type { Consumption } from '../../support/dynamodb/limited-dynamodb.ts'

/** Of the calls on the workspace's item, without reads. */
export interface LedgerUse {
  units: number
  throttled: number
  /** Units of a write that was done. */
  largestWrite: number
  /** Units of one that was refused for its condition. */
  largestRefusal: number
}

export interface TableUse {
  units: number
  done: number
  refused: number
  throttled: number
}

export interface Tally {
  ledger: LedgerUse
  /** By table: keys, workspaces, … */
  tables: Record<string, TableUse>
}

const STAGE = /^.*-(?=keys$|workspaces$|reservations$|documents$|rate-limits$)/

/** Adds up what the calls of DynamoDB cost. */
export function createTally(): { count(call: Consumption): void; read(): Tally; reset(): void } {
  const nothing = (): Tally => ({
    ledger: { units: 0, throttled: 0, largestWrite: 0, largestRefusal: 0 },
    tables: {},
  })
  let tally = nothing()
  return {
    count({ table, operation, units, outcome }) {
      const name = table.replace(STAGE, '')
      tally.tables[name] ??= { units: 0, done: 0, refused: 0, throttled: 0 }
      addTo(tally.tables[name], units, outcome)
      if (name === 'workspaces' && operation !== 'GetItem') addToLedger(tally.ledger, units, outcome)
    },
    read: () => tally,
    reset() {
      tally = nothing()
    },
  }
}

function addTo(use: TableUse, units: number, outcome: Consumption['outcome']): void {
  if (outcome === 'throttled') {
    use.throttled++
    return
  }
  use.units += units
  use[outcome === 'done' ? 'done' : 'refused']++
}

function addToLedger(ledger: LedgerUse, units: number, outcome: Consumption['outcome']): void {
  if (outcome === 'throttled') {
    ledger.throttled++
    return
  }
  ledger.units += units
  if (outcome === 'done') ledger.largestWrite = Math.max(ledger.largestWrite, units)
  else ledger.largestRefusal = Math.max(ledger.largestRefusal, units)
}
