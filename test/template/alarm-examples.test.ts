import { expect, it } from 'vitest'
import { API_FUNCTIONS } from '../../infra/deploy/functions.ts'
import { type Alarm, identityOf } from '../support/template/metric-names.ts'
import { packagedService, THRESHOLDS } from '../support/template/packages.ts'

const prod = await packagedService('prod')
const { auditRoundHours, alarmLatencyMs } = THRESHOLDS
const [ROUND, SLOW, LATE] = [Number(auditRoundHours), Number(alarmLatencyMs) + 1, 600_001]

/** By metric, statistic and seconds of a period: a value for each period, the newest last; NaN where there is none. */
type State = 'OK' | 'ALARM' | 'as before'
type Values = Readonly<Record<string, readonly number[]>>

const _ = Number.NaN
/** Of this account: concurrent executions. */
const QUOTA = 1000
const times = (count: number, value: number) => Array<number>(count).fill(value)
const STAGE = 'container-file-promotion-prod'
const own = (name: string, rest: string) => `ContainerFilePromotion ${name} service=${STAGE} ${rest}`
const gateway = (name: string, rest: string) => `AWS/ApiGateway ${name} ApiName=${STAGE} Stage=prod ${rest}`
const lambda = (name: string, slug: string, rest: string) => `AWS/Lambda ${name} FunctionName=${STAGE}-${slug} ${rest}`
const crashes = (slug: string) => lambda('Errors', slug, `Resource=${STAGE}-${slug}:live Sum 60`)
const USED = 'AWS/Usage ResourceCount Service=Lambda Type=Resource Resource=ConcurrentExecutions Class=None Maximum 300'
const throttledAt = (at: string) => `AWS/DynamoDB WriteThrottleEvents TableName=${STAGE}-${at} Sum 300`
const DUE = throttledAt('documents GlobalSecondaryIndexName=due')
const LISTS = throttledAt('documents GlobalSecondaryIndexName=documents-by-creation')
const THROTTLED = throttledAt('workspaces')
const FAULTS = own('Failures', 'reason=internal_error Sum 60')
const TIME = own('PromotionTime', 'p99 300')
const UNCOUNTED = own('RateLimiterUnavailable', 'Sum 300')
const LEFTOVER = own('OldestLeftover', 'Maximum 900')
const UNRESOLVED = own('LeftoversFailed', 'Sum 900')
const EXPIRY = own('OldestExpiry', 'Maximum 900')
const NOT_EXPIRED = own('ExpiriesFailed', 'Sum 900')
const NOT_ERASED = own('ErasuresFailed', 'Sum 10800')
const ERASER_CRASHED = lambda('Errors', 'erase-workspaces', 'Sum 10800')
const COMPLETED = own('AuditRoundsCompleted', 'Sum 5400')
const WAITING = lambda('IteratorAge', 'publish-events', 'Maximum 300')
const KEPT = 'AWS/SQS ApproximateNumberOfMessagesVisible QueueName=<EventsQueue.QueueName> Maximum 300'
const failing = (seconds: number, errors: number[], requests: number[]): Values => ({
  [gateway('5XXError', `Sum ${seconds}`)]: errors,
  [gateway('Count', `Sum ${seconds}`)]: requests,
})
/** The resolver's runs in each quarter of an hour: 120 are due. */
const runs = (ran: number[], failed: number[] = times(3, 0), reported: Values = {}): Values => ({
  [lambda('Invocations', 'resolve-due-work', 'Sum 900')]: ran,
  [lambda('Errors', 'resolve-due-work', 'Sum 900')]: failed,
  ...reported,
})
const WELL = times(3, 120)
const NONE = times(3, 0)
const found = (all: number[], drifts: number[] = [], losses: number[] = []): Values => ({
  [own('AuditFindings', 'Sum 3600')]: all,
  [own('AuditFindings', 'kind=drift Sum 3600')]: drifts,
  [own('AuditFindings', 'kind=document_without_object Sum 3600')]: losses,
})

/** Silence is good news, but for what must run. */
const SEEING_NOTHING: Record<string, State> = { LeftoversLate: 'as before', AuditIncomplete: 'ALARM' }
const EXAMPLES: [alarm: string, when: string, Values, State][] = [
  ['ServerErrorRate', 'one request of a quiet stage fails', failing(60, [1], [1]), 'OK'],
  ['ServerErrorRate', 'two do in 15 minutes', failing(60, [1, ...times(13, 0), 1], times(15, 1)), 'ALARM'],
  ['ServerErrorRate', 'two do in 16 minutes', failing(60, [1, ...times(14, 0), 1], times(16, 1)), 'OK'],
  ['ServerErrorRate', 'a busy stage fails as often as it may', failing(60, times(15, 2), times(15, 100)), 'OK'],
  ['ServerErrorRate', 'it fails more often', failing(60, [3, 3], [100, 100]), 'ALARM'],
  ['ErrorBudget', 'a quiet stage fails twice', failing(21_600, [2], [2]), 'OK'],
  ['ErrorBudget', 'a stage fails six times as often as it may', failing(21_600, [3], [500]), 'OK'],
  ['ErrorBudget', 'it fails more often', failing(21_600, [3], [499]), 'ALARM'],
  ['PromotionLatency', 'promotions are slow', { [TIME]: times(3, SLOW) }, 'ALARM'],
  ['PromotionLatency', 'they are slow for a while', { [TIME]: [SLOW - 1, SLOW, SLOW] }, 'OK'],
  ['PromotionLatency', 'callers wait', { [TIME]: times(3, 1), [gateway('Latency', 'p99 300')]: times(3, SLOW) }, 'OK'],
  ['Faults', 'a single 500', { [FAULTS]: [1] }, 'ALARM'],
  ['Faults', 'there are none', { [FAULTS]: [0] }, 'OK'],
  ...API_FUNCTIONS.flatMap(({ name }): typeof EXAMPLES => [
    ['Faults', `a crash of ${name}`, { [crashes(name)]: [1] }, 'ALARM'],
    ['Concurrency', `${name} is throttled`, { [lambda('Throttles', name, 'Sum 300')]: [1], [USED]: [1] }, 'ALARM'],
  ]),
  ['Concurrency', 'it is nearly used up', { [USED]: [801] }, 'ALARM'],
  ['Concurrency', 'it is used', { [USED]: [800] }, 'OK'],
  ['RateLimiterUnavailable', 'requests are not counted', { [UNCOUNTED]: [1, _, 1] }, 'ALARM'],
  ['RateLimiterUnavailable', 'one is not, after a while', { [UNCOUNTED]: [1, 0, 0, 1] }, 'OK'],
  ['TableThrottles', 'DynamoDB throttles the ledger', { [THROTTLED]: [10] }, 'ALARM'],
  ['TableThrottles', 'it throttles documents and their indexes', { [DUE]: [4], [LISTS]: [6] }, 'ALARM'],
  ['TableThrottles', 'it does so a little', { [THROTTLED]: [4], [throttledAt('documents')]: [5] }, 'OK'],
  ['TableThrottles', 'it no longer does', { [THROTTLED]: [10, _] }, 'OK'],
  ['LeftoversLate', 'it is nearly late', runs(times(3, 109), NONE, { [LEFTOVER]: times(3, LATE - 1) }), 'OK'],
  ['LeftoversLate', 'nothing ran before the deployment', runs([_, _, 8], [_, _, 0]), 'as before'],
  ['LeftoversLate', 'nothing runs any more', runs([120, 120, _, _, _], [0, 0, _, _, _]), 'ALARM'],
  ['LeftoversLate', 'a shard cannot be listed', runs(WELL, times(3, 12)), 'ALARM'],
  ['LeftoversLate', 'each run fails for a while', runs(WELL, [0, 120, 120]), 'OK'],
  ['LeftoversLate', 'the resolver cannot keep up', runs(WELL, NONE, { [LEFTOVER]: times(3, LATE) }), 'ALARM'],
  ['LeftoversLate', 'a workspace fails again and again', runs(WELL, NONE, { [UNRESOLVED]: times(3, 1) }), 'ALARM'],
  ['LeftoversLate', 'runs fail, then are late', runs(WELL, [60, 60, 0], { [LEFTOVER]: [_, _, LATE] }), 'ALARM'],
  ['ExpiriesLate', 'a document cannot be deleted', { [NOT_EXPIRED]: times(3, 1) }, 'ALARM'],
  ['ExpiriesLate', 'it fails for a while', { [NOT_EXPIRED]: [0, 1, 1] }, 'OK'],
  ['ExpiriesLate', 'expired documents are too many', { [EXPIRY]: times(3, LATE) }, 'ALARM'],
  ['ExpiriesLate', 'they wait as long as they may', { [EXPIRY]: times(3, LATE - 1) }, 'OK'],
  ['DriftOrLoss', 'a workspace drifts', found([1], [1]), 'ALARM'],
  ['DriftOrLoss', 'a document has lost its object', found([1], [], [1]), 'ALARM'],
  ['DriftOrLoss', 'an hour later', found([1, _], [1, _]), 'OK'],
  ['DriftOrLoss', 'something else is found', found([1]), 'OK'],
  ['AuditFindings', 'something else is found', found([1]), 'ALARM'],
  ['AuditFindings', 'something else, too, is found', found([3], [1], [1]), 'ALARM'],
  ['AuditFindings', 'nothing else is found', found([2], [1], [1]), 'OK'],
  ['EventsLate', 'the bus takes none', { [WAITING]: times(3, 600_000) }, 'ALARM'],
  ['EventsLate', 'they are late for a while', { [WAITING]: [599_999, 600_000, 600_000] }, 'OK'],
  ['EventsKept', 'a record is in the queue', { [KEPT]: [1] }, 'ALARM'],
  ['EventsKept', 'somebody has dealt with it', { [KEPT]: [1, 0] }, 'OK'],
  ['ErasuresLate', 'S3 refuses for a day', { [NOT_ERASED]: times(8, 3) }, 'ALARM'],
  ['ErasuresLate', 'it refuses for 21 hours, and then not', { [NOT_ERASED]: [...times(7, 3), _] }, 'OK'],
  ['ErasuresLate', 'the function crashes for a day', { [ERASER_CRASHED]: times(8, 1) }, 'ALARM'],
  ['AuditIncomplete', 'a round ended in time', { [COMPLETED]: [1, ...times(ROUND - 1, _)] }, 'OK'],
  ['AuditIncomplete', 'none did', { [COMPLETED]: [1, ...times(ROUND, _)] }, 'ALARM'],
  ['AuditIncomplete', 'one gave shards up', { [COMPLETED]: [1, ...times(ROUND - 1, _), 0] }, 'ALARM'],
  ...prod.idsOfType('AWS::CloudWatch::Alarm').map((id): (typeof EXAMPLES)[number] => {
    const name = id.replace(/Alarm$/, '')
    return [name, 'there is nothing to see', {}, SEEING_NOTHING[name] ?? 'OK']
  }),
]

it.each(EXAMPLES)('%s, when %s', (name, _when, values, state) => {
  expect(stateAfter(prod.resource(`${name}Alarm`).Properties, values)).toBe(state)
})

it('each alarm has an incident that sets it off', () => {
  const set = new Set(EXAMPLES.flatMap(([name, , , state]) => (state === 'ALARM' ? [`${name}Alarm`] : [])))
  expect([...set].toSorted()).toEqual(prod.idsOfType('AWS::CloudWatch::Alarm').toSorted())
})

/** Of each metric of an alarm, in one period; NaN where there is none. */
type Period = Record<string, number>

/** Without what is missing; if all is, so is the result. */
const known = (values: number[]) => (values.every(Number.isNaN) ? [_] : values.filter(Number.isFinite))
const sum = (...values: number[]) => known(values).reduce((total, value) => total + value)
const above = (limit: number, value = _) => (Number.isNaN(value) ? _ : Number(value > limit))

/** CloudWatch user guide, "Metric math syntax and functions": what the alarms' formulas say, without FILL(…, 0). */
const FORMULAS: Record<string, (now: Period, untilNow: Period[]) => number> = {
  only: ({ only = _ }) => only,
  '100 * errors / requests': ({ errors = _, requests = _ }) => (100 * errors) / requests,
  'IF(errors >= 3, 100 * errors / requests, 0)': ({ errors = _, requests = _ }) =>
    errors < 3 ? 0 : (100 * errors) / requests,
  'SUM(METRICS())': (all) => sum(...Object.values(all)),
  'MAX([100 * used / SERVICE_QUOTA(used), 100 * SUM(METRICS("throttlesOf"))])': ({ used = _, ...throttles }) =>
    Math.max(...known([(100 * used) / QUOTA, 100 * sum(...Object.values(throttles))])),
  'SUM([FILL((runs - errors) < 109, 1) + 0 * FILL(runs, REPEAT), unresolved, oldest > 600000])': (now, untilNow) => {
    const { runs = _, errors = _, unresolved = _, oldest } = now
    const hasEverRun = untilNow.some((period) => Number.isFinite(period.runs))
    return sum(hasEverRun ? Number(!(runs - errors >= 109)) : _, unresolved, above(600_000, oldest))
  },
  'SUM([failed, crashes])': ({ failed = _, crashes: crashed = _ }) => sum(failed, crashed),
  'SUM([failed, oldest > 600000])': ({ failed = _, oldest }) => sum(failed, above(600_000, oldest)),
  'SUM([drifts, losses])': ({ drifts = _, losses = _ }) => sum(drifts, losses),
  'SUM([all, 0 - drifts, 0 - losses])': ({ all = _, drifts = _, losses = _ }) => sum(all, -drifts, -losses),
}

const COMPARISONS: Record<string, (value: number, threshold: number) => boolean> = {
  LessThanThreshold: (value, threshold) => value < threshold,
  GreaterThanThreshold: (value, threshold) => value > threshold,
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
}

/** CloudWatch user guide, "How alarm state is evaluated when data is missing". */
function stateAfter(alarm: Alarm, values: Values): State {
  const periods = Number(alarm.EvaluationPeriods)
  const seen = valuesOf(alarm, values).slice(-periods).filter(Number.isFinite)
  const isBreaching = COMPARISONS[alarm.ComparisonOperator]
  if (!isBreaching) throw new Error(`COMPARISONS lacks ${alarm.ComparisonOperator}`)
  const breaching = seen.filter((value) => isBreaching(value, Number(alarm.Threshold))).length
  const missing = periods - seen.length
  // API Reference, PutMetricAlarm: for this namespace, whatever the alarm says.
  const treatment = alarm.Namespace === 'AWS/DynamoDB' ? 'ignore' : alarm.TreatMissingData
  const filled = treatment === 'breaching' ? missing : 0
  if (breaching + filled >= Number(alarm.DatapointsToAlarm ?? periods)) return 'ALARM'
  return treatment === 'ignore' && missing > 0 && breaching === seen.length ? 'as before' : 'OK'
}

function valuesOf(alarm: Alarm, values: Values): number[] {
  const only = { Id: 'only', MetricStat: { ...alarm, Metric: alarm, Stat: alarm.Statistic ?? alarm.ExtendedStatistic } }
  const { Metrics = [only] } = alarm
  const series = new Map<string, readonly number[]>()
  for (const { Id, MetricStat } of Metrics) {
    if (!MetricStat) continue
    series.set(Id, values[`${identityOf(MetricStat.Metric)} ${MetricStat.Stat} ${MetricStat.Period}`] ?? [])
  }
  const range = Math.max(1, ...[...series.values()].map(({ length }) => length))
  const periods = times(range, 0).map((__, index) =>
    Object.fromEntries([...series].map(([id, all]) => [id, all.at(index - range) ?? _])),
  )
  const formula: string = Metrics.find(({ Expression }: Alarm) => Expression)?.Expression ?? 'only'
  const [, filled] = /^FILL\((.*), 0\)$/.exec(formula) ?? []
  const calculate = FORMULAS[filled ?? formula]
  if (!calculate) throw new Error(`FORMULAS lacks ${formula}`)
  const results = periods.map((now, index) => calculate(now, periods.slice(0, index + 1)))
  // AWS does not say what becomes of a metric without any value: here it stays so.
  if (filled === undefined || results.every(Number.isNaN)) return results
  return results.map((result) => (Number.isNaN(result) ? 0 : result))
}
