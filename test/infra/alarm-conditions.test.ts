import { beforeAll, describe, expect, it } from 'vitest'
import {
  API_FUNCTIONS,
  PACKAGING_TIMEOUT_MS,
  type Packaged,
  packagedService,
  THRESHOLDS,
} from '../support/package/packages.ts'

const SERVICE = { Name: 'service', Value: 'container-file-promotion-prod' }
const GATEWAY = [
  { Name: 'ApiName', Value: 'container-file-promotion-prod' },
  { Name: 'Stage', Value: 'prod' },
]
const functionNamed = (name: string) => ({ Name: 'FunctionName', Value: `container-file-promotion-prod-${name}` })

let prod: Packaged
let existing: Packaged
beforeAll(async () => {
  ;[prod, existing] = await Promise.all([packagedService('prod'), packagedService('existing')])
}, PACKAGING_TIMEOUT_MS)

const alarm = (name: string) => prod.resource(`${name}Alarm`).Properties
/** Of a metric math alarm: `errors` → the metric. */
const mathMetrics = (name: string) =>
  Object.fromEntries(
    alarm(name).Metrics.flatMap(({ Id, MetricStat }: { Id: string; MetricStat?: { Metric: object } }) =>
      MetricStat ? [[Id, MetricStat.Metric]] : [],
    ),
  )
const expression = (name: string) =>
  alarm(name).Metrics.find(({ Expression }: { Expression?: string }) => Expression !== undefined)?.Expression

describe('what callers notice', () => {
  it('5xx: above a share of requests, in any two of fifteen minutes', () => {
    expect(mathMetrics('ServerErrorRate')).toEqual({
      errors: { Namespace: 'AWS/ApiGateway', MetricName: '5XXError', Dimensions: GATEWAY },
      requests: { Namespace: 'AWS/ApiGateway', MetricName: 'Count', Dimensions: GATEWAY },
    })
    expect(expression('ServerErrorRate')).toBe('100 * errors / requests')
    expect(alarm('ServerErrorRate')).toMatchObject({
      Threshold: THRESHOLDS.alarmServerErrorPercent,
      EvaluationPeriods: 15,
      DatapointsToAlarm: 2,
    })
  })

  it('5xx: six times as many as the promised 0.1 %, for six hours', () => {
    expect(mathMetrics('ErrorBudget')).toEqual(mathMetrics('ServerErrorRate'))
    expect(expression('ErrorBudget')).toBe('IF(errors >= 3, 100 * errors / requests, 0)')
    expect(alarm('ErrorBudget')).toMatchObject({ EvaluationPeriods: 1, Threshold: 0.6 })
    for (const { MetricStat } of alarm('ErrorBudget').Metrics) if (MetricStat) expect(MetricStat.Period).toBe(21_600)
  })

  it('latency: one request in a hundred', () => {
    expect(alarm('PromotionLatency')).toMatchObject({
      MetricName: 'Latency',
      Dimensions: GATEWAY,
      ExtendedStatistic: 'p99',
      Threshold: THRESHOLDS.alarmLatencyMs,
    })
  })

  it('throttles: of all functions and of the ledger', () => {
    const throttles = Object.values(mathMetrics('FunctionThrottles'))
    const slugs = API_FUNCTIONS.map((id) => id.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase())
    expect(throttles).toEqual(
      slugs.map((slug) => ({
        Namespace: 'AWS/Lambda',
        MetricName: 'Throttles',
        Dimensions: [functionNamed(slug)],
      })),
    )
    expect(mathMetrics('LedgerThrottles').throttled).toMatchObject({
      MetricName: 'WriteThrottleEvents',
      Dimensions: [{ Name: 'TableName', Value: 'container-file-promotion-prod-workspaces' }],
    })
  })

  it('the concurrency of the account, before it is used up', () => {
    expect(mathMetrics('Concurrency').used).toMatchObject({
      Namespace: 'AWS/Usage',
      Dimensions: expect.arrayContaining([{ Name: 'Resource', Value: 'ConcurrentExecutions' }]),
    })
    expect(expression('Concurrency')).toBe('100 * used / SERVICE_QUOTA(used)')
    expect(alarm('Concurrency').Threshold).toBe(80)
  })

  it('failures of ours, and requests that nobody counts', () => {
    expect(alarm('Failures').Dimensions).toContainEqual({ Name: 'reason', Value: 'internal_error' })
    expect(alarm('RateLimiterUnavailable').MetricName).toBe('RateLimiterUnavailable')
  })
})

describe('what is counted and kept', () => {
  const NONE = { ComparisonOperator: 'LessThanThreshold', Threshold: 1, TreatMissingData: 'breaching' }

  it('the resolver: runs failed, or were not started', () => {
    const dimensions = [functionNamed('resolve-reservations')]
    expect(mathMetrics('ResolverFailing')).toEqual({
      runs: { Namespace: 'AWS/Lambda', MetricName: 'Invocations', Dimensions: dimensions },
      errors: { Namespace: 'AWS/Lambda', MetricName: 'Errors', Dimensions: dimensions },
    })
    // Five runs for each group of shards: when 17 of 20 succeed, each group has had one that did.
    expect(alarm('ResolverFailing')).toMatchObject({ ComparisonOperator: 'LessThanThreshold', Threshold: 17 })
    for (const { MetricStat } of alarm('ResolverFailing').Metrics) if (MetricStat) expect(MetricStat.Period).toBe(300)
  })

  it('the audit: no round was completed in twice its time, one takes too long, or gave something up', () => {
    const failing = { MetricName: 'AuditRoundsCompleted', Statistic: 'Sum', Period: 86_400, ...NONE }
    expect(alarm('AuditFailing')).toMatchObject({
      ...failing,
      EvaluationPeriods: (2 * Number(THRESHOLDS.auditRoundHours)) / 24,
    })
    expect(existing.resource('AuditFailingAlarm').Properties).toMatchObject({ ...failing, EvaluationPeriods: 2 })
    expect(alarm('AuditLate')).toMatchObject({ MetricName: 'AuditRoundAge', Statistic: 'Maximum', Threshold: 100 })
    expect(mathMetrics('AuditIncomplete').lost).toMatchObject({ MetricName: 'AuditShardsIncomplete' })
    expect(alarm('AuditIncomplete').Threshold).toBe(1)
  })

  it('the audit: more than a hundredth of the workspaces was not added up, two days running', () => {
    const ofService = (MetricName: string) => ({
      Namespace: 'ContainerFilePromotion',
      MetricName,
      Dimensions: [SERVICE],
    })
    expect(mathMetrics('NotAddedUp')).toEqual({
      failed: ofService('WorkspacesNotAddedUp'),
      audited: ofService('AuditedWorkspaces'),
    })
    expect(expression('NotAddedUp')).toBe('100 * failed / MAX([audited, 1])')
    expect(alarm('NotAddedUp')).toMatchObject({
      ComparisonOperator: 'GreaterThanThreshold',
      Threshold: 1,
      EvaluationPeriods: 2,
      TreatMissingData: 'notBreaching',
    })
    for (const { MetricStat } of alarm('NotAddedUp').Metrics) if (MetricStat) expect(MetricStat.Period).toBe(86_400)
  })

  it('the resolver: how late it is, what it has not come to, and runs that are not through', () => {
    expect(alarm('ResolverLate')).toMatchObject({
      MetricName: 'OldestOverdueSeconds',
      Dimensions: [SERVICE],
      Statistic: 'Maximum',
      ComparisonOperator: 'GreaterThanThreshold',
      Threshold: 120,
    })
    expect(alarm('ResolverBacklog')).toMatchObject({
      MetricName: 'OverdueWorkspaces',
      Dimensions: [SERVICE],
      // Of the runs of all shards in a minute.
      Statistic: 'Sum',
      Period: 60,
      Threshold: 1000,
    })
    expect(alarm('ResolverIncomplete')).toMatchObject({
      MetricName: 'IncompleteRuns',
      Dimensions: [SERVICE],
      Statistic: 'Sum',
      Threshold: 1,
    })
  })

  it('reservations that fail: over longer than the resolver leaves them alone', () => {
    const LONGEST_PAUSE_SECONDS = 600
    for (const name of ['ReservationsUnresolved', 'OldestReservation']) {
      expect(alarm(name).Period).toBeGreaterThan(LONGEST_PAUSE_SECONDS)
    }
  })

  it('the oldest reservation', () => {
    expect(alarm('OldestReservation')).toMatchObject({
      MetricName: 'OldestReservation',
      Statistic: 'Maximum',
      Threshold: THRESHOLDS.alarmOldestReservationMs,
    })
    expect(existing.resource('OldestReservationAlarm').Properties.Threshold).toBe('600000')
  })

  it('drift, lost documents, and all other findings of the audit', () => {
    const found = (...dimensions: object[]) => ({
      found: { Namespace: 'ContainerFilePromotion', MetricName: 'AuditFindings', Dimensions: [SERVICE, ...dimensions] },
    })
    expect(mathMetrics('LostDocuments')).toEqual(found({ Name: 'kind', Value: 'document_without_object' }))
    expect(mathMetrics('Drift')).toEqual(found({ Name: 'kind', Value: 'drift' }))
    expect(mathMetrics('AuditFindings')).toEqual(found())
    for (const name of ['LostDocuments', 'Drift', 'AuditFindings']) expect(alarm(name).Threshold).toBe(1)
  })
})
