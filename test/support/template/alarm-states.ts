import { type EmptyFill, evaluate, type Series } from './metric-math.ts'

export type AlarmState = 'OK' | 'ALARM' | 'INSUFFICIENT_DATA'
type Treatment = 'missing' | 'ignore' | 'breaching' | 'notBreaching'

/** A metric's values in the minutes of a scenario. `seenAfter`: how many minutes later CloudWatch has it. */
export interface Datapoint {
  minute: number
  value: number
  seenAfter?: number
}
/** Values by metric, as {@link identityOf} names it. */
export type Traffic = Readonly<Record<string, readonly Datapoint[]>>

/** The CloudFormation properties of an alarm. */
// biome-ignore lint/suspicious/noExplicitAny: CloudFormation's properties have no one type
export type Alarm = Record<string, any>

export interface Change {
  minute: number
  state: AlarmState
}

/** Periods before the evaluated ones that CloudWatch looks at: one of its examples has five for three. */
const EXTRA_PERIODS = 2

/** The changes of an alarm's state, evaluated every minute, or every few, from its creation in minute 0. */
export function changesOf(
  alarm: Alarm,
  traffic: Traffic,
  { untilMinute, everyMinutes = 1, emptyFill }: { untilMinute: number; everyMinutes?: number; emptyFill: EmptyFill },
): Change[] {
  const changes: Change[] = []
  let state: AlarmState = 'INSUFFICIENT_DATA'
  for (let now = 0; now <= untilMinute; now += everyMinutes) {
    const next = stateAt(now, state)
    if (next !== state) changes.push({ minute: now, state: next })
    state = next
  }
  return changes

  function stateAt(now: number, before: AlarmState): AlarmState {
    const isBreaching = breachOf(alarm)
    const values = valuesOf(alarm, traffic, now, emptyFill)
    const breaches = values.map((value) => (value === undefined ? undefined : isBreaching(value)))
    return stateOf(breaches, toRule(alarm), before)
  }
}

export interface Rule {
  evaluationPeriods: number
  datapointsToAlarm: number
  treatMissingData: Treatment
}

function toRule({
  EvaluationPeriods,
  DatapointsToAlarm = EvaluationPeriods,
  TreatMissingData,
  Namespace,
}: Alarm): Rule {
  return {
    evaluationPeriods: Number(EvaluationPeriods),
    datapointsToAlarm: Number(DatapointsToAlarm),
    // API Reference, PutMetricAlarm: for this namespace, whatever the alarm says.
    treatMissingData: Namespace === 'AWS/DynamoDB' ? 'ignore' : (TreatMissingData ?? 'missing'),
  }
}

/** CloudWatch user guide, "How alarm state is evaluated when data is missing". @param breaches oldest first */
export function stateOf(breaches: (boolean | undefined)[], rule: Rule, before: AlarmState): AlarmState {
  const { evaluationPeriods, datapointsToAlarm, treatMissingData } = rule
  const real = breaches.filter((breach) => breach !== undefined).slice(-evaluationPeriods)
  const filled = treatMissingData === 'breaching' ? evaluationPeriods - real.length : 0
  if (real.filter(Boolean).length + filled >= datapointsToAlarm) return 'ALARM'
  if (real.length === evaluationPeriods || treatMissingData.endsWith('reaching') || real.includes(false)) return 'OK'
  if (treatMissingData === 'ignore') return before
  return real.length === 0 ? 'INSUFFICIENT_DATA' : 'ALARM'
}

function breachOf({ ComparisonOperator, Threshold }: Alarm): (value: number) => boolean {
  const threshold = Number(Threshold)
  const isBreaching = {
    GreaterThanThreshold: (value: number) => value > threshold,
    GreaterThanOrEqualToThreshold: (value: number) => value >= threshold,
    LessThanThreshold: (value: number) => value < threshold,
  }[ComparisonOperator as string]
  if (isBreaching === undefined) throw new Error(`${ComparisonOperator} is not known`)
  return isBreaching
}

function valuesOf(alarm: Alarm, traffic: Traffic, now: number, emptyFill: EmptyFill): Series {
  const periods = Number(alarm.EvaluationPeriods) + EXTRA_PERIODS
  const seriesOf = (metric: Alarm, stat: string, seconds: number) =>
    Array.from({ length: periods }, (_, i) => {
      const end = now - (periods - 1 - i) * (seconds / 60)
      return aggregate(traffic[identityOf(metric)] ?? [], { now, after: end - seconds / 60, end }, stat)
    })
  if (!alarm.Metrics) return seriesOf(alarm, alarm.Statistic ?? alarm.ExtendedStatistic, Number(alarm.Period))
  const series: Record<string, Series> = {}
  for (const { Id, MetricStat } of alarm.Metrics) {
    if (MetricStat) series[Id] = seriesOf(MetricStat.Metric, MetricStat.Stat, Number(MetricStat.Period))
  }
  const { Expression } = alarm.Metrics.find(({ ReturnData }: Alarm) => ReturnData !== false)
  return evaluate(Expression, series, { emptyFill })
}

/** Namespace, name and dimensions: an alarm that watches another metric than a scenario has finds no data. */
export function identityOf({ Namespace, MetricName, Dimensions }: Alarm): string {
  const dimensions = Dimensions.map(({ Name, Value }: { Name: string; Value: string }) => `${Name}=${Value}`)
  return [Namespace, MetricName, ...dimensions].join(' ')
}

/** The metrics that an alarm watches. */
export function metricsOf(alarm: Alarm): string[] {
  if (!alarm.Metrics) return [identityOf(alarm)]
  return alarm.Metrics.flatMap(({ MetricStat }: Alarm) => (MetricStat ? [identityOf(MetricStat.Metric)] : []))
}

const byMinute = new WeakMap<readonly Datapoint[], Map<number, Datapoint[]>>()

function aggregate(
  points: readonly Datapoint[],
  { now, after, end }: { now: number; after: number; end: number },
  stat: string,
): number | undefined {
  const known = byMinute.get(points) ?? Map.groupBy(points, ({ minute }) => minute)
  byMinute.set(points, known)
  const values: number[] = []
  for (let minute = Math.max(0, Math.ceil(after + 1)); minute <= end; minute++) {
    for (const { value, seenAfter = 0 } of known.get(minute) ?? []) if (minute + seenAfter <= now) values.push(value)
  }
  if (values.length === 0) return undefined
  // Of the few values of a scenario, the highest is the 99th percentile.
  return stat === 'Sum' ? values.reduce((total, value) => total + value, 0) : Math.max(...values)
}
