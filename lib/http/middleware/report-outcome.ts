import type { Journal, TimedStep } from '../../journal.ts'
import type { MetricName, Metrics, MetricValues } from '../../metrics.ts'
import type { ApiMiddleware } from '../exchange.ts'

const STEP_METRICS: Readonly<Record<TimedStep, MetricName>> = {
  authenticate: 'AuthenticateTime',
  look_up: 'LookUpTime',
  reserve: 'ReserveTime',
  copy: 'CopyTime',
  record: 'RecordTime',
  settle: 'SettleTime',
  undo: 'UndoTime',
}

/** Tells the outcome of every request: in one line of the log, and in one line of metrics. */
export function reportOutcome({ metrics, now }: { metrics: Metrics; now(): number }): ApiMiddleware {
  const report: ApiMiddleware['after'] = ({ event: { exchange }, response }) => {
    if (!response) return
    const { journal, failure, log } = exchange
    const durationMs = now() - exchange.startedAtMs
    const operation = exchange.operation ?? 'unknown'
    const fields = {
      operation,
      status: response.statusCode,
      duration_ms: durationMs,
      steps_ms: journal.stepsMs,
      ...journal.facts,
    }
    if (failure === undefined) {
      log.info('request answered', fields)
      if (operation === 'promote_container_file') {
        metrics.publish({ ...exchange.counts, PromotionTime: durationMs, ...stepTimes(journal) })
        return
      }
      metrics.publish({ OperationTime: durationMs }, { operation })
      if (exchange.counts) metrics.publish(exchange.counts)
      return
    }
    const { reason, detail } = failure
    if (failure.status < 500) log.info('request answered', { ...fields, reason, detail })
    else log.error('request answered', { ...fields, reason, error: failure.cause ?? failure })
    metrics.publish({ [failure.status < 500 ? 'Refusals' : 'Failures']: 1 }, { reason })
    const undoMs = journal.stepsMs.undo
    if (undoMs !== undefined) metrics.publish({ UndoTime: undoMs })
  }
  return { after: report, onError: report }
}

function stepTimes({ stepsMs }: Journal): MetricValues {
  return Object.fromEntries(Object.entries(stepsMs).map(([step, ms]) => [STEP_METRICS[step as TimedStep], ms]))
}
