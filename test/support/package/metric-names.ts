import type { Resource } from './packages.ts'

/** A metric as CloudWatch keeps it apart from others. */
export interface MetricIdentity {
  namespace: string
  name: string
  dimensions: Record<string, string>
}

export const NAMESPACE = 'ContainerFilePromotion'

interface EmbeddedMetrics {
  _aws?: { CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[] }
  [member: string]: unknown
}

/** What CloudWatch makes of embedded metric format lines: each metric once for each of its sets of dimensions. */
export function emittedMetrics(lines: readonly EmbeddedMetrics[]): MetricIdentity[] {
  return lines.flatMap((line) =>
    (line._aws?.CloudWatchMetrics ?? []).flatMap(({ Namespace, Dimensions, Metrics }) =>
      Metrics.flatMap(({ Name }) =>
        Dimensions.map((names) => ({
          namespace: Namespace,
          name: Name,
          dimensions: Object.fromEntries(names.map((dimension) => [dimension, String(line[dimension])])),
        })),
      ),
    ),
  )
}

interface AlarmMetric {
  Namespace?: string
  MetricName?: string
  Dimensions?: { Name: string; Value: string }[]
}

/** Our own metrics that alarms look at. */
export function metricsOfAlarms(resources: Record<string, Resource>): MetricIdentity[] {
  const alarms = Object.values(resources).filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm')
  const metrics: AlarmMetric[] = alarms.flatMap(({ Properties }) => [
    Properties,
    ...(Properties.Metrics ?? []).map(
      ({ MetricStat }: { MetricStat?: { Metric: AlarmMetric } }) => MetricStat?.Metric ?? {},
    ),
  ])
  return metrics
    .filter(({ Namespace }) => Namespace === NAMESPACE)
    .map(({ MetricName = '', Dimensions = [] }) => ({
      namespace: NAMESPACE,
      name: MetricName,
      dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])),
    }))
}
