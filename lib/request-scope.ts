import type { Deadline } from './deadline.ts'
import type { Log } from './logging.ts'
import type { Telemetry } from './telemetry.ts'

/** What every step of a request has at hand. */
export interface RequestScope {
  deadline: Deadline
  log: Log
  telemetry: Telemetry
}
