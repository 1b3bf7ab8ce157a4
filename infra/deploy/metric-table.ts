import type { MetricName } from '../../lib/metrics.ts'
import type { ChartTitle } from './dashboard-charts.ts'

interface Row {
  /** Counted or measured, for docs/runbook.md. */
  meaning: string
  /** Of the dashboard. A chart by a second dimension shows no other lines of ours. */
  chart: ChartTitle
  /** `Sum` by default. */
  stat?: 'Maximum' | 'Average' | 'p99'
  label?: string
  axis?: 'right'
}

const step = (meaning: string): Row => ({ meaning, chart: 'Time of each step, p99', stat: 'p99' })
const outcome = (meaning: string): Row => ({ meaning, chart: 'Outcomes' })
const bytes = (meaning: string): Row => ({ meaning, chart: 'Bytes promoted and deleted' })
const limit = (meaning: string): Row => ({ meaning, chart: 'Quota nearly full and rate limiter unavailable' })
const due = (meaning: string): Row => ({ meaning, chart: 'Leftovers of dead processes, and expired documents' })
const oldest = (meaning: string, label: string): Row => ({ ...due(meaning), stat: 'Maximum', label, axis: 'right' })
const round = (meaning: string, label: string, more: Partial<Row> = {}): Row => ({
  ...{ meaning, label, chart: 'Rounds of the audit' },
  ...more,
})

/**
 * All metrics of lib/metrics.ts: the dashboard's charts and the table of docs/runbook.md follow from it
 * (`npx vitest run test/pages/metrics.test.ts -u` writes that).
 */
export const METRIC_TABLE: Readonly<Record<MetricName, Row>> = {
  Promotions: outcome('Documents made by promotions'),
  Replays: outcome('Repetitions that got the first document'),
  Deletions: outcome('Documents that callers deleted'),
  Expiries: outcome('Expired documents deleted'),
  Refusals: outcome('4xx (by `reason`)'),
  Failures: outcome('5xx (by `reason`)'),
  PromotedBytes: bytes('Bytes of `Promotions`'),
  DeletedBytes: bytes('Bytes of `Deletions`'),
  QuotaNearlyFull: limit('Promotions that left under a tenth free'),
  RateLimiterUnavailable: limit('Requests counted in the process only'),
  PromotionTime: step('A promotion, without its `Prefer: wait`'),
  AuthenticateTime: step('Reading the API key'),
  LookUpTime: step('Looking the file up'),
  BeginTime: step('Beginning the document'),
  CopyTime: step('Copying the file'),
  TakeTime: step('Counting its bytes'),
  RecordTime: step('Recording the document'),
  UnmarkTime: step('Removing the marker'),
  UndoTime: step('Undoing a promotion'),
  OperationTime: {
    meaning: 'Any other operation (by `operation`); one sample a request',
    chart: 'Time of the other operations, p99',
  },
  LeftoversResolved: due('Leftovers gone on with'),
  LeftoversFailed: due('Leftovers that failed'),
  OldestLeftover: oldest('How long the oldest one left was due', 'oldest (ms)'),
  ExpiriesFailed: due('Deletions that failed'),
  OldestExpiry: oldest('How long ago the oldest one left expired', 'oldest expired (ms)'),
  AuditFindings: { meaning: 'Findings (by `kind`)', chart: 'Audit findings by kind' },
  AuditReads: round('DynamoDB read units, and requests to S3', 'read units', { axis: 'right' }),
  AuditRoundAge: round('Age of the round, in percent of `auditRoundHours`', 'age (% of auditRoundHours)', {
    stat: 'Maximum',
  }),
  AuditRoundsCompleted: round('[Complete rounds](#audit-incomplete)', 'rounds completed'),
}
