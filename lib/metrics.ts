import { Metrics as PowertoolsMetrics } from '@aws-lambda-powertools/metrics'

export const NAMESPACE = 'ContainerFilePromotion'

/** Every metric with its CloudWatch unit, in the order of docs/runbook.md, which says what it counts. */
export const METRICS = {
  Promotions: 'Count',
  Replays: 'Count',
  Deletions: 'Count',
  Expiries: 'Count',
  Refusals: 'Count',
  Failures: 'Count',
  PromotedBytes: 'Bytes',
  DeletedBytes: 'Bytes',
  QuotaNearlyFull: 'Count',
  RateLimiterUnavailable: 'Count',
  PromotionTime: 'Milliseconds',
  AuthenticateTime: 'Milliseconds',
  LookUpTime: 'Milliseconds',
  BeginTime: 'Milliseconds',
  CopyTime: 'Milliseconds',
  HoldTime: 'Milliseconds',
  RecordTime: 'Milliseconds',
  CaptureTime: 'Milliseconds',
  UndoTime: 'Milliseconds',
  OperationTime: 'Milliseconds',
  LeftoversResolved: 'Count',
  LeftoversFailed: 'Count',
  OldestLeftover: 'Milliseconds',
  ExpiriesFailed: 'Count',
  OldestExpiry: 'Milliseconds',
  ErasuresFailed: 'Count',
  AuditFindings: 'Count',
  AuditReads: 'Count',
  AuditRoundAge: 'Percent',
  AuditRoundsCompleted: 'Count',
} as const satisfies Record<string, 'Count' | 'Bytes' | 'Milliseconds' | 'Percent'>

export type MetricName = keyof typeof METRICS

export type MetricValues = Readonly<Partial<Record<MetricName, number>>>
/** A second dimension: values are published with and without it. Each of its values is billed as a metric. */
export type MetricDetail = { reason: string } | { kind: string } | { operation: string }

export interface Metrics {
  publish(values: MetricValues, detail?: MetricDetail): void
}

/** Embedded metric format lines on standard output, so no call is made. */
export function createMetrics(serviceName: string): Metrics {
  const metrics = new PowertoolsMetrics({ namespace: NAMESPACE, serviceName })
  return {
    // No await between the first value and the line, so that parallel requests cannot mix.
    publish(values, detail) {
      for (const [name, value] of Object.entries(values)) metrics.addMetric(name, METRICS[name as MetricName], value)
      if (detail) metrics.addDimensions({}).addDimensions(detail)
      metrics.publishStoredMetrics()
    },
  }
}
