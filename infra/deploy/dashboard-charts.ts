import type { MetricName } from '../../lib/metrics.ts'
import { API_FUNCTIONS } from './functions.ts'

export const NAMESPACE = 'ContainerFilePromotion'
export const SERVICE = `\${self:provider.environment.SERVICE_NAME}`
export const COLUMNS = 24
const HOUR_SECONDS = 3600

/** Of those that CloudWatch knows. */
type Stat = 'Sum' | 'Maximum' | 'Average' | 'SampleCount' | 'p50' | 'p99'

interface Options {
  stat: Stat
  label?: string
  yAxis?: 'right'
}
/** Namespace, metric, pairs of dimension and value, options; or an expression. */
export type Line = [...string[], Options] | [{ id: string; expression: string }]

export interface Chart {
  /** Of 24 columns; 8 by default. */
  width?: number
  stacked?: true
  period?: typeof HOUR_SECONDS
  /** In addition to the metrics that METRIC_TABLE puts here. */
  lines?: Line[]
}

const gateway = (metric: string, stat: Stat, label?: string): Line => [
  ...['AWS/ApiGateway', metric, 'ApiName', `\${self:provider.apiName}`, 'Stage', `\${sls:stage}`],
  { stat, ...(label && { label }) },
]
const lambda = (metric: string, functionName: string, stat: Stat, label: string): Line => [
  ...['AWS/Lambda', metric, 'FunctionName', functionName],
  { stat, label },
]
const ofEachApiFunction = (metric: string, stat: Stat, toLabel: (name: string) => string) =>
  API_FUNCTIONS.map(({ name }) => lambda(metric, `\${self:service}-\${sls:stage}-${name}`, stat, toLabel(name)))
const tables = (metric: string): Line[] =>
  ['workspaces', 'documents', 'rate limits'].map((label) => {
    const variable = `${label.toUpperCase().replace(' ', '_')}_TABLE`
    return ['AWS/DynamoDB', metric, 'TableName', `\${self:provider.environment.${variable}}`, { stat: 'Sum', label }]
  })
/** A line for each value of a second dimension. */
function by(dimension: string, metric: MetricName, stat: Stat, period?: number): Line {
  const search = `{${NAMESPACE},service,${dimension}} MetricName="${metric}" service="${SERVICE}"`
  const rest = period === undefined ? '' : `, ${period}`
  return [{ id: dimension, expression: `SEARCH('${search}', '${stat}'${rest})` }]
}

const RESOLVER = `\${self:functions.resolveDueWork.name}`
const AUDIT = `\${self:functions.auditWorkspaces.name}`

/** By title, row by row, from the left. */
export const CHARTS = {
  'Requests and errors': {
    lines: [gateway('Count', 'Sum'), gateway('4XXError', 'Sum'), gateway('5XXError', 'Sum')],
  },
  'Latency of the API': {
    lines: [
      gateway('Latency', 'p50', 'p50'),
      gateway('Latency', 'p99', 'p99'),
      gateway('IntegrationLatency', 'p99', 'p99 without the gateway'),
    ],
  },
  'Time of each step, p99': {},
  Outcomes: { stacked: true },
  'Refusals by reason': { stacked: true, lines: [by('reason', 'Refusals', 'Sum')] },
  'Failures by reason': { stacked: true, lines: [by('reason', 'Failures', 'Sum')] },
  'Bytes promoted and deleted': {},
  'Quota nearly full and rate limiter unavailable': {},
  'Leftovers of dead processes, and expired documents': {
    lines: [
      lambda('Invocations', RESOLVER, 'Sum', 'runs of the resolver'),
      lambda('Errors', RESOLVER, 'Sum', 'runs that failed'),
    ],
  },
  'Audit findings by kind': {
    period: HOUR_SECONDS,
    lines: [by('kind', 'AuditFindings', 'Sum', HOUR_SECONDS)],
  },
  'Concurrency and throttles': {
    lines: [
      ...ofEachApiFunction('ConcurrentExecutions', 'Maximum', (name) => `concurrent: ${name}`),
      ...ofEachApiFunction('Throttles', 'Sum', (name) => `throttled: ${name}`),
      ...ofEachApiFunction('Errors', 'Sum', (name) => `crashed: ${name}`),
    ],
  },
  'Duration of the functions': {
    lines: [
      ...ofEachApiFunction('Duration', 'p99', (name) => `${name} p99`),
      lambda('Duration', RESOLVER, 'Maximum', 'resolve'),
      lambda('Duration', AUDIT, 'Maximum', 'audit'),
    ],
  },
  'Writes of the tables': { width: 12, lines: tables('ConsumedWriteCapacityUnits') },
  'Writes that were throttled': { width: 12, lines: tables('WriteThrottleEvents') },
  'Time of the other operations, p99': { width: 12, lines: [by('operation', 'OperationTime', 'p99')] },
  'Requests of the other operations': {
    width: 12,
    stacked: true,
    lines: [by('operation', 'OperationTime', 'SampleCount')],
  },
  'Rounds of the audit': { width: COLUMNS, period: HOUR_SECONDS },
} satisfies Record<string, Chart>

export type ChartTitle = keyof typeof CHARTS
