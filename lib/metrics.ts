import { Metrics as PowertoolsMetrics } from '@aws-lambda-powertools/metrics'

export const NAMESPACE = 'ContainerFilePromotion'

/** Every metric with its CloudWatch unit. */
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
  OldestLeftover: 'Milliseconds',
  Expiries: 'Count',
  ExpiriesFailed: 'Count',
  OldestExpiry: 'Milliseconds',
  AuditFindings: 'Count',
  AuditReads: 'Count',
  AuditRoundAge: 'Percent',
  AuditRoundsCompleted: 'Count',
} as const satisfies Record<string, 'Count' | 'Bytes' | 'Milliseconds' | 'Percent'>

export type MetricName = keyof typeof METRICS

/** Counted or measured. `npx vitest run test/pages/metrics.test.ts -u` writes it into docs/runbook.md. */
export const MEANINGS: Readonly<Record<MetricName, string>> = {
  Promotions: 'Documents made by promotions',
  Replays: 'Repetitions that got the first document',
  Deletions: 'Documents that callers deleted',
  Expiries: 'Expired documents deleted',
  Refusals: '4xx (by `reason`)',
  Failures: '5xx (by `reason`)',
  PromotedBytes: 'Bytes of `Promotions`',
  DeletedBytes: 'Bytes of `Deletions`',
  QuotaNearlyFull: 'Promotions that left under a tenth free',
  RateLimiterUnavailable: 'Requests counted in the process only',
  PromotionTime: 'A promotion, without its `Prefer: wait`',
  AuthenticateTime: 'Reading the API key',
  LookUpTime: 'Looking the file up',
  BeginTime: 'Beginning the document',
  CopyTime: 'Copying the file',
  TakeTime: 'Counting its bytes',
  RecordTime: 'Recording the document',
  UnmarkTime: 'Removing the marker',
  UndoTime: 'Undoing a promotion',
  OperationTime: 'Any other operation (by `operation`); one sample a request',
  LeftoversResolved: 'Leftovers gone on with',
  LeftoversFailed: 'Leftovers that failed',
  OldestLeftover: 'How long the oldest one left was due',
  ExpiriesFailed: 'Deletions that failed',
  OldestExpiry: 'How long ago the oldest one left expired',
  AuditFindings: 'Findings (by `kind`)',
  AuditReads: 'DynamoDB read units, and requests to S3',
  AuditRoundAge: 'Age of the round, in percent of `auditRoundHours`',
  AuditRoundsCompleted: '[Complete rounds](#audit-incomplete)',
}

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
