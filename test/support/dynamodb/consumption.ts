import type { Content } from './dynalite.ts'

/** What a call cost; for a throttled one, what was not there: it costs nothing. */
export interface Consumption {
  operation: string
  table: string
  input: Content
  /** Of reads or writes, as the operation is one. Those of indexes included. */
  units: number
  outcome: 'done' | 'condition_failed' | 'throttled'
}
