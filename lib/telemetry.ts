import type { Deadline } from './deadline.ts'
import type { Log, LogFields } from './logging.ts'

/** The timed steps of a promotion, by their names in log and metrics. `wait`: the pauses that its caller asked for. */
export type TimedStep = 'authenticate' | 'look_up' | 'wait' | 'begin' | 'copy' | 'hold' | 'record' | 'capture' | 'undo'

export interface RequestScope {
  deadline: Deadline
  log: Log
  telemetry: ReturnType<typeof createTelemetry>
}

/** Facts about one request, for its log line and its metrics. */
export function createTelemetry() {
  const facts: Record<string, unknown> = {}
  const stepsMs: Partial<Record<TimedStep, number>> = {}
  return {
    facts,
    /** Milliseconds; a repeated step's times are added up. */
    stepsMs,
    annotate: (more: LogFields): void => void Object.assign(facts, more),
    /** Runs the step and records its duration, even if it fails. */
    async time<Result>(step: TimedStep, work: () => Promise<Result>): Promise<Result> {
      const startedAtMs = performance.now()
      try {
        return await work()
      } finally {
        const sumMs = (stepsMs[step] ?? 0) + performance.now() - startedAtMs
        stepsMs[step] = Math.round(sumMs * 10) / 10
      }
    },
  }
}
