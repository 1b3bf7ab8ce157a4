import type { Deadline } from './deadline.ts'
import type { Log, LogFields } from './logging.ts'

/** The timed steps of a promotion, by their names in log and metrics. `wait`: the pauses that its caller asked for. */
export type TimedStep = 'authenticate' | 'look_up' | 'wait' | 'begin' | 'copy' | 'hold' | 'record' | 'capture' | 'undo'

/** Facts about one request, for its log line and its metrics. */
export interface Telemetry {
  readonly facts: LogFields
  /** Milliseconds; a repeated step's times are added up. */
  readonly stepsMs: Readonly<Partial<Record<TimedStep, number>>>
  /** Never a token, a header block, a whole event or a file's content. */
  annotate(facts: LogFields): void
  /** Runs the step and records its duration, even if it fails. */
  time<Result>(step: TimedStep, work: () => Promise<Result>): Promise<Result>
}

/** At hand in every step of a request. */
export interface RequestScope {
  deadline: Deadline
  log: Log
  telemetry: Telemetry
}

export function createTelemetry(): Telemetry {
  const facts: Record<string, unknown> = {}
  const stepsMs: Partial<Record<TimedStep, number>> = {}
  return {
    facts,
    stepsMs,
    annotate: (more) => void Object.assign(facts, more),
    async time(step, work) {
      const startedAtMs = performance.now()
      try {
        return await work()
      } finally {
        stepsMs[step] = tenths((stepsMs[step] ?? 0) + performance.now() - startedAtMs)
      }
    },
  }
}

const tenths = (durationMs: number) => Math.round(durationMs * 10) / 10
