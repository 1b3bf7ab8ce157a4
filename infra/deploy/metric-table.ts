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
const round = (meaning: string): Row => ({ meaning, chart: 'Rounds of the audit' })
const oldest = { stat: 'Maximum', axis: 'right' } as const

/**
 * All metrics of lib/metrics.ts: the dashboard's charts and the table of docs/runbook.md follow from it
 * (`npx vitest run test/pages/metrics.test.ts -u` writes that).
 */
export const METRIC_TABLE: Readonly<Record<MetricName, Row>> = {
  Promotions: outcome('Documents made by promotions, without replays'),
  Replays: outcome("Repetitions with an `Idempotency-Key` that got the first one's document"),
  Deletions: outcome('Documents that callers deleted'),
  Expiries: outcome('Expired documents whose bytes were given back'),
  Refusals: outcome('Answers with 4xx (also by `reason`)'),
  Failures: outcome('Answers with 5xx (also by `reason`)'),
  PromotedBytes: bytes('Bytes of `Promotions`'),
  DeletedBytes: bytes('Bytes of `Deletions`'),
  QuotaNearlyFull: limit("Promotions that left less than a tenth of their workspace's quota"),
  RateLimiterUnavailable: limit('Requests that only their process has counted'),
  PromotionTime: step('Duration of a promotion, less its pauses for `Prefer: wait`'),
  AuthenticateTime: step('Its first step: reading the API key'),
  LookUpTime: step('Looking the file up'),
  BeginTime: step('Beginning the document'),
  CopyTime: step('Copying the file'),
  TakeTime: step('Counting its bytes'),
  RecordTime: step('Recording the document'),
  UnmarkTime: step('Taking the marker out of the ledger'),
  UndoTime: step('Undoing all of it'),
  OperationTime: {
    meaning: 'Duration of any other operation (by `operation`); the sample count is the number of requests',
    chart: 'Time of the other operations, p99',
  },
  LeftoversResolved: due('Leftovers that the resolver went on with'),
  LeftoversFailed: due('Leftovers with which it failed'),
  OldestLeftover: {
    ...due('How long the oldest leftover had been due that the resolver did not get to, or failed with; or 0'),
    ...oldest,
    label: 'oldest (ms)',
  },
  ExpiriesFailed: due('Deletions of expired documents that failed'),
  OldestExpiry: {
    ...due('How long ago the oldest document expired that the resolver did not get to; nothing when all is well'),
    ...oldest,
    label: 'oldest expired (ms)',
  },
  AuditFindings: { meaning: 'Findings of the audit (also by `kind`)', chart: 'Audit findings by kind' },
  AuditReads: {
    ...round('What the audit read: read units of DynamoDB, and one for each request to S3'),
    label: 'read units',
    axis: 'right',
  },
  AuditProgress: {
    ...round('How far a shard of the round has come, in percent, estimated'),
    stat: 'Average',
    label: 'progress (%)',
  },
  AuditRoundAge: {
    ...round('How long ago the round began, in percent of `auditRoundHours`'),
    stat: 'Maximum',
    label: 'age (% of auditRoundHours)',
  },
  AuditRoundsCompleted: {
    ...round('Complete rounds: all shards ended, 99 in 100 workspaces added up'),
    label: 'rounds completed',
  },
}
