import type { MetricName, Metrics } from '../../metrics.ts'
import type { TimedStep } from '../../telemetry.ts'
import type { ApiMiddleware } from '../request-state.ts'

const STEP_METRICS: Readonly<Record<Exclude<TimedStep, 'wait'>, MetricName>> = {
  authenticate: 'AuthenticateTime',
  look_up: 'LookUpTime',
  begin: 'BeginTime',
  hold: 'HoldTime',
  copy: 'CopyTime',
  record: 'RecordTime',
  capture: 'CaptureTime',
  undo: 'UndoTime',
}

export function reportOutcome({ metrics, now }: { metrics: Metrics; now(): number }): ApiMiddleware {
  const report: ApiMiddleware['after'] = ({ event: { state }, response }) => {
    if (!response) return
    const { telemetry, failure, log } = state
    const durationMs = now() - state.startedAtMs
    const operation = state.operation ?? 'unknown'
    const outcome = { operation, status: response.statusCode, duration_ms: durationMs, steps_ms: telemetry.stepsMs }
    const fields = { ...outcome, ...telemetry.facts }
    if (failure === undefined) {
      log.info('request answered', fields)
      if (operation === 'promote_container_file') {
        const { wait: waitMs = 0, ...stepsMs } = telemetry.stepsMs
        const times = Object.entries(stepsMs).map(([step, ms]) => [STEP_METRICS[step as keyof typeof stepsMs], ms])
        const PromotionTime = Math.round(durationMs - waitMs)
        metrics.publish({ ...state.counts, PromotionTime, ...Object.fromEntries(times) })
        return
      }
      metrics.publish({ OperationTime: durationMs }, { operation })
      if (state.counts) metrics.publish(state.counts)
      return
    }
    const { reason, detail, cause } = failure
    if (failure.status < 500) log.info('request answered', { ...fields, reason, detail, error: cause })
    else log.error('request answered', { ...fields, reason, error: cause ?? failure })
    metrics.publish({ [failure.status < 500 ? 'Refusals' : 'Failures']: 1 }, { reason })
    const undoMs = telemetry.stepsMs.undo
    if (undoMs !== undefined) metrics.publish({ UndoTime: undoMs })
  }
  return { after: report, onError: report }
}
