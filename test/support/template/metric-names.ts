import { textOf } from './intrinsics.ts'

/** The CloudFormation properties of an alarm. */
// biome-ignore lint/suspicious/noExplicitAny: CloudFormation's properties have no one type
export type Alarm = Record<string, any>

interface EmbeddedMetrics {
  _aws?: { CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[] }
  [member: string]: unknown
}

/** Namespace, name and dimensions. */
export function identityOf({ Namespace, MetricName, Dimensions }: Alarm): string {
  const dimensions = Dimensions.map(({ Name, Value }: { Name: string; Value: unknown }) => `${Name}=${textOf(Value)}`)
  return [Namespace, MetricName, ...dimensions].join(' ')
}

/** The metrics that an alarm watches. */
export function metricsOf(alarm: Alarm): string[] {
  if (!alarm.Metrics) return [identityOf(alarm)]
  return alarm.Metrics.flatMap(({ MetricStat }: Alarm) => (MetricStat ? [identityOf(MetricStat.Metric)] : []))
}

/** CloudWatch makes these of lines in the embedded metric format: each metric once for each of its sets of dimensions. */
export function emittedMetrics(lines: readonly EmbeddedMetrics[]): { name: string; identity: string }[] {
  return lines.flatMap((line) =>
    (line._aws?.CloudWatchMetrics ?? []).flatMap(({ Namespace, Dimensions, Metrics }) =>
      Metrics.flatMap(({ Name }) =>
        Dimensions.map((names) => {
          const dimensions = names.map((dimension) => ({ Name: dimension, Value: String(line[dimension]) }))
          return { name: Name, identity: identityOf({ Namespace, MetricName: Name, Dimensions: dimensions }) }
        }),
      ),
    ),
  )
}
