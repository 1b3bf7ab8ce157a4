import { identityOf } from './alarm-states.ts'

export const NAMESPACE = 'ContainerFilePromotion'

interface EmbeddedMetrics {
  _aws?: { CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[] }
  [member: string]: unknown
}

/** What CloudWatch makes of embedded metric format lines: each metric once for each of its sets of dimensions. */
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
