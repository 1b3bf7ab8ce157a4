import { MetricUnit, Metrics as PowertoolsMetrics } from '@aws-lambda-powertools/metrics'

/** Every metric the service emits. */
export type MetricName = 'RateLimiterUnavailable'

export interface Metrics {
  count(name: MetricName): void
}

/** CloudWatch metrics as embedded metric format lines on standard output: no call is made for them. */
export function createMetrics(serviceName: string): Metrics {
  const metrics = new PowertoolsMetrics({ namespace: 'ContainerFilePromotion', serviceName })
  return {
    count: (name) => {
      metrics.singleMetric().addMetric(name, MetricUnit.Count, 1)
    },
  }
}
