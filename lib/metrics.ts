import { MetricUnit, Metrics as PowertoolsMetrics } from '@aws-lambda-powertools/metrics'

/** Every metric the service emits. */
export type CountMetric = 'RateLimiterUnavailable' | 'ReservationsResolved' | 'ReservationsUnresolved'
/** In milliseconds. OldestReservation: how long its lease has been over. */
export type TimeMetric = 'OldestReservation'

export interface Metrics {
  count(name: CountMetric, count: number): void
  time(name: TimeMetric, durationMs: number): void
}

/** CloudWatch metrics as embedded metric format lines on standard output: no call is made for them. */
export function createMetrics(serviceName: string): Metrics {
  const metrics = new PowertoolsMetrics({ namespace: 'ContainerFilePromotion', serviceName })
  const add = (name: string, unit: typeof MetricUnit.Count | typeof MetricUnit.Milliseconds, value: number) => {
    metrics.singleMetric().addMetric(name, unit, value)
  }
  return {
    count: (name, count) => add(name, MetricUnit.Count, count),
    time: (name, durationMs) => add(name, MetricUnit.Milliseconds, durationMs),
  }
}
