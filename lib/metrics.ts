import { Metrics as PowertoolsMetrics } from '@aws-lambda-powertools/metrics'

/** Every metric with its CloudWatch unit; docs/runbook.md explains each. */
export const METRICS = {
  Promotions: 'Count',
  Replays: 'Count',
  Refusals: 'Count',
  Failures: 'Count',
  PromotedBytes: 'Bytes',
  Deletions: 'Count',
  DeletedBytes: 'Bytes',
  QuotaNearlyFull: 'Count',
  PromotionTime: 'Milliseconds',
  OperationTime: 'Milliseconds',
  AuthenticateTime: 'Milliseconds',
  LookUpTime: 'Milliseconds',
  BeginTime: 'Milliseconds',
  TakeTime: 'Milliseconds',
  CopyTime: 'Milliseconds',
  RecordTime: 'Milliseconds',
  UnmarkTime: 'Milliseconds',
  UndoTime: 'Milliseconds',
  RateLimiterUnavailable: 'Count',
  LeftoversResolved: 'Count',
  LeftoversFailed: 'Count',
  /** How long what a dead process left has been due that a run did not get to, or failed to resolve. */
  OldestLeftover: 'Milliseconds',
  Expiries: 'Count',
  /** Deletions of expired documents that failed. */
  ExpiriesFailed: 'Count',
  /** How long ago the oldest document expired that a run did not get to, or failed to delete. */
  OldestExpiry: 'Milliseconds',
  AuditFindings: 'Count',
  /** Read units: DynamoDB's, and one for each request to S3. */
  AuditReads: 'Count',
  /** Time since the round began, as a share of the time allowed. */
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

/**
 * Embedded metric format lines on standard output, so no call is made.
 * @param serviceName the dimension `service`, which distinguishes the stages of an account
 */
export function createMetrics(serviceName: string): Metrics {
  const metrics = new PowertoolsMetrics({ namespace: 'ContainerFilePromotion', serviceName })
  return {
    // No await between the first value and the line, so that parallel requests cannot mix.
    publish(values, detail) {
      for (const [name, value] of Object.entries(values)) metrics.addMetric(name, METRICS[name as MetricName], value)
      if (detail) metrics.addDimensions({}).addDimensions(detail)
      metrics.publishStoredMetrics()
    },
  }
}
