import type { Content } from './dynalite.ts'

/** The cost of a call. For a throttled one, what it lacked: it costs nothing. */
export interface Consumption {
  operation: string
  table: string
  input: Content
  /** Read or write units, whichever the operation needs, including those of indexes. */
  units: number
  outcome: 'done' | 'condition_failed' | 'throttled'
}
