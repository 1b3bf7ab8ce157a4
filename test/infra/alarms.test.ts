import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { METRICS } from '../../lib/metrics.ts'
import { expectDocumentedNames } from '../docs/pages.ts'
import { NAMESPACE } from '../support/metric-names.ts'
import {
  API_FUNCTIONS,
  EXISTING,
  PACKAGING_TIMEOUT_MS,
  type Packaged,
  packagedService,
  type Resource,
  THRESHOLDS,
} from '../support/packages.ts'

const RUNBOOK = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
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

describe('alarms', () => {
  it('each name what happened and a section of the runbook that is there', () => {
    const alarms = prod.ofType('AWS::CloudWatch::Alarm')
    expect(alarms.length).toBeGreaterThanOrEqual(14)
    for (const { Properties } of alarms) {
      const slug = /Runbook: docs\/operations\.md#([a-z-]+)$/.exec(Properties.AlarmDescription)?.[1]
      expect(Properties.AlarmName).toMatch(new RegExp(`^container-file-promotion-prod-${slug}(-[a-z-]+)?$`))
      const heading = RUNBOOK.split('\n').find((line) => /^#+ /.test(line) && slugOf(line) === slug)
      expect(heading, `add to docs/operations.md, Alarms: ### ${slug}, with Means, Look at and Do`).toBeDefined()
    }
  })

  it('page, or wait for the morning, as the runbook says', () => {
    const told = (topic: string) =>
      prod
        .idsOfType('AWS::CloudWatch::Alarm')
        .map(prod.resource)
        .filter(({ Properties: { AlarmActions, OKActions } }) => {
          const wanted = JSON.stringify([{ Ref: topic }])
          return JSON.stringify(AlarmActions) === wanted && JSON.stringify(OKActions) === wanted
        })
        .map(({ Properties }) => /#([a-z-]+)$/.exec(Properties.AlarmDescription)?.[1] ?? '')
    const [pages, tickets] = alarmsOfRunbook()
    expect(pages.length).toBeGreaterThan(5)
    const line = (slug: string) => `a link [${slug.replaceAll('-', ' ')}](#${slug})`
    const page = 'docs/operations.md, What to promise'
    expectDocumentedNames(`${page}, Alarms that page`, { documented: pages, expected: told('AlarmTopic'), line })
    const morning = `${page}, Alarms that wait for the morning`
    expectDocumentedNames(morning, { documented: tickets, expected: told('TicketTopic'), line })
  })

  it('each reach the address that was given, those for the morning too', () => {
    const email = { Protocol: 'email', Endpoint: THRESHOLDS.alarmEmail }
    expect(prod.ofType('AWS::SNS::Subscription').map(({ Properties }) => Properties)).toEqual([
      { TopicArn: { Ref: 'AlarmTopic' }, ...email },
      { TopicArn: { Ref: 'TicketTopic' }, ...email },
    ])
  })

  it('each tell existing topics, the address only what is for it', () => {
    expect(existing.idsOfType('AWS::SNS::Topic')).toEqual([])
    expect(existing.ofType('AWS::SNS::Subscription').map(({ Properties }) => Properties)).toEqual([
      { TopicArn: EXISTING.ticketTopicArn, Protocol: 'email', Endpoint: EXISTING.ticketEmail },
    ])
    const told = existing.ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties.AlarmActions)
    expect(new Set(told.flat())).toEqual(new Set([EXISTING.alarmTopicArn, EXISTING.ticketTopicArn]))
    expect(existing.outputs.TicketTopic?.Value).toBe(EXISTING.ticketTopicArn)
  })

  it('watch metrics that the service emits', () => {
    const metrics = prod.ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties)
    const own = metrics.filter(({ Namespace }) => Namespace === NAMESPACE)
    expect(own.length).toBeGreaterThan(5)
    for (const { MetricName, Dimensions } of own) {
      expect(METRICS).toHaveProperty(MetricName)
      expect(Dimensions[0]).toEqual(SERVICE)
    }
  })

  it('take missing data for silence, but for what must run', () => {
    const breaching = prod
      .idsOfType('AWS::CloudWatch::Alarm')
      .filter((id) => (prod.resources[id] as Resource).Properties.TreatMissingData === 'breaching')
    expect(breaching).toEqual(['ResolverFailingAlarm', 'AuditFailingAlarm'])
  })
})

describe('what callers notice', () => {
  it('5xx: above a share of requests, once there are enough', () => {
    expect(mathMetrics('ServerErrorRate')).toEqual({
      errors: { Namespace: 'AWS/ApiGateway', MetricName: '5XXError', Dimensions: GATEWAY },
      requests: { Namespace: 'AWS/ApiGateway', MetricName: 'Count', Dimensions: GATEWAY },
    })
    expect(expression('ServerErrorRate')).toBe('IF(requests >= 10, 100 * errors / requests, 0)')
    expect(alarm('ServerErrorRate').Threshold).toBe(THRESHOLDS.alarmServerErrorPercent)
  })

  it('5xx: six times as many as the promised 0.1 %, for six hours', () => {
    expect(mathMetrics('ErrorBudget')).toEqual(mathMetrics('ServerErrorRate'))
    expect(expression('ErrorBudget')).toBe('IF(requests >= 500, 100 * errors / requests, 0)')
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

  it('throttles: of each function and of the ledger', () => {
    for (const id of API_FUNCTIONS) {
      const slug = id.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
      expect(alarm(`${id}Throttles`)).toMatchObject({ MetricName: 'Throttles', Dimensions: [functionNamed(slug)] })
    }
    expect(alarm('LedgerThrottles')).toMatchObject({
      MetricName: 'WriteThrottleEvents',
      Dimensions: [{ Name: 'TableName', Value: 'container-file-promotion-prod-workspaces' }],
    })
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
    expect(expression('ResolverFailing')).toBe('runs - errors')
    // Of each group of shards, five runs: with 17 of 20, each has had one that succeeded.
    expect(alarm('ResolverFailing')).toMatchObject({ ...NONE, Threshold: 17, EvaluationPeriods: 1 })
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
    expect(alarm('AuditIncomplete')).toMatchObject({
      MetricName: 'AuditShardsIncomplete',
      Statistic: 'Sum',
      Threshold: 1,
    })
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
    expect(alarm('LostDocuments')).toMatchObject({
      MetricName: 'AuditFindings',
      Dimensions: [SERVICE, { Name: 'kind', Value: 'document_without_object' }],
      Threshold: 1,
    })
    expect(alarm('Drift')).toMatchObject({
      MetricName: 'AuditFindings',
      Dimensions: [SERVICE, { Name: 'kind', Value: 'drift' }],
      Threshold: 1,
    })
    expect(alarm('AuditFindings')).toMatchObject({ MetricName: 'AuditFindings', Dimensions: [SERVICE], Threshold: 1 })
  })
})

/** The runbook's table "What to promise": anchors of the alarms that page, and of those that wait for the morning. */
function alarmsOfRunbook(): [string[], string[]] {
  const [, section = ''] = /\n## What to promise\n([\s\S]*?)\n## /.exec(RUNBOOK) ?? []
  const rows = section.split('\n').filter((line) => /^\| \*\*/.test(line))
  const anchors = (column: number) =>
    rows.flatMap((row) =>
      [...(row.split('|')[column] ?? '').matchAll(/\]\(#([a-z-]+)\)/g)].map(([, slug = '']) => slug),
    )
  return [anchors(3), anchors(4)]
}

/** As GitHub makes anchors of headings. */
function slugOf(heading: string): string {
  return heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')
}
