import { METRICS, type MetricName, NAMESPACE } from '../../lib/metrics.ts'
import { type FunctionEntry, hasRoutes } from './functions.ts'

const SERVICE = `\${self:provider.environment.SERVICE_NAME}`
const RESOLVER = `\${self:functions.resolveDueWork.name}`
const AUDIT = `\${self:functions.auditWorkspaces.name}`
const COLUMNS = 24
const ROW_HEIGHT = 6
const HOUR_SECONDS = 3600

type Stat = 'Sum' | 'Maximum' | 'Average' | 'SampleCount' | 'p50' | 'p99'
type Options = { stat?: Stat; yAxis?: 'right'; label?: string }
/** Namespace, metric, pairs of dimension and value, options; or an expression. */
type Line = (string | Options)[] | [{ id: string; expression: string }]
/** The width is in columns, 8 by default. Without metrics, it shows what no other chart does. */
type Chart = { width?: number; stacked?: true; period?: typeof HOUR_SECONDS; metrics?: Line[] }

const own = (name: MetricName, options: Options = {}): Line => [
  ...[NAMESPACE, name, 'service', SERVICE],
  { stat: 'Sum', ...options },
]
const each = (stat: Stat, ...names: MetricName[]) => names.map((name) => own(name, { stat }))
const NAMES = Object.keys(METRICS) as MetricName[]
const STEP_TIMES = NAMES.filter((name) => /^(?!Operation).*Time$/.test(name))
/** A line for each value of a second dimension. */
function by(dimension: string, metric: MetricName, stat: Stat, period?: number): Line {
  const search = `{${NAMESPACE},service,${dimension}} MetricName="${metric}" service="${SERVICE}"`
  const rest = period === undefined ? '' : `, ${period}`
  return [{ id: dimension, expression: `SEARCH('${search}', '${stat}'${rest})` }]
}
const gateway = (metric: string, stat: Stat, label?: string): Line => [
  ...['AWS/ApiGateway', metric, 'ApiName', `\${self:provider.apiName}`, 'Stage', `\${sls:stage}`],
  { stat, ...(label && { label }) },
]
const lambda = (metric: string, functionName: string, stat: Stat, label: string): Line => [
  ...['AWS/Lambda', metric, 'FunctionName', functionName],
  { stat, label },
]
const ofTable = (metric: string, variable: string, label: string, ...more: string[]): Line => [
  ...['AWS/DynamoDB', metric, 'TableName', `\${self:provider.environment.${variable}}`, ...more],
  { stat: 'Sum', label },
]
const ofEachTable = (metric: string) =>
  ['keys', 'workspaces', 'documents', 'rate limits'].map((label) =>
    ofTable(metric, `${label.toUpperCase().replace(' ', '_')}_TABLE`, label),
  )
const ofIndexes = (metric: string) =>
  ['due', 'documents-by-creation'].map((index) =>
    ofTable(metric, 'DOCUMENTS_TABLE', `index ${index}`, 'GlobalSecondaryIndexName', index),
  )

/** By title, row by row, from the left. */
function chartsOf(functions: readonly FunctionEntry[]): Readonly<Record<string, Chart>> {
  const ofEachApiFunction = (metric: string, stat: Stat, toLabel: (name: string) => string) =>
    functions
      .filter(hasRoutes)
      .map(({ name }) => lambda(metric, `\${self:service}-\${sls:stage}-${name}`, stat, toLabel(name)))
  return {
    'Requests and errors': { metrics: ['Count', '4XXError', '5XXError'].map((metric) => gateway(metric, 'Sum')) },
    'Latency of the API': {
      metrics: [
        gateway('Latency', 'p50', 'p50'),
        gateway('Latency', 'p99', 'p99'),
        gateway('IntegrationLatency', 'p99', 'p99 without the gateway'),
      ],
    },
    'Time of each step, p99': { metrics: each('p99', ...STEP_TIMES) },
    Outcomes: {
      stacked: true,
      metrics: each('Sum', 'Promotions', 'Replays', 'Deletions', 'Expiries', 'Refusals', 'Failures'),
    },
    'Refusals by reason': { stacked: true, metrics: [by('reason', 'Refusals', 'Sum')] },
    'Failures by reason': { stacked: true, metrics: [by('reason', 'Failures', 'Sum')] },
    'Bytes promoted and deleted': { metrics: each('Sum', 'PromotedBytes', 'DeletedBytes') },
    'Quota nearly full, rate limiter unavailable, and all others': {},
    'Leftovers of dead processes, and expired documents': {
      metrics: [
        ...each('Sum', 'LeftoversResolved', 'LeftoversFailed'),
        own('OldestLeftover', { stat: 'Maximum', yAxis: 'right', label: 'oldest (ms)' }),
        own('ExpiriesFailed'),
        own('OldestExpiry', { stat: 'Maximum', yAxis: 'right', label: 'oldest expired (ms)' }),
        lambda('Invocations', RESOLVER, 'Sum', 'runs of the resolver'),
        lambda('Errors', RESOLVER, 'Sum', 'runs that failed'),
      ],
    },
    'Audit findings by kind': { period: HOUR_SECONDS, metrics: [by('kind', 'AuditFindings', 'Sum', HOUR_SECONDS)] },
    'Concurrency and throttles': {
      metrics: [
        ...ofEachApiFunction('ConcurrentExecutions', 'Maximum', (name) => `concurrent: ${name}`),
        ...ofEachApiFunction('Throttles', 'Sum', (name) => `throttled: ${name}`),
        ...ofEachApiFunction('Errors', 'Sum', (name) => `crashed: ${name}`),
      ],
    },
    'Duration of the functions': {
      metrics: [
        ...ofEachApiFunction('Duration', 'p99', (name) => `${name} p99`),
        lambda('Duration', RESOLVER, 'Maximum', 'resolve'),
        lambda('Duration', AUDIT, 'Maximum', 'audit'),
      ],
    },
    'Writes of the tables': { width: 12, metrics: ofEachTable('ConsumedWriteCapacityUnits') },
    'Writes that were throttled': {
      width: 12,
      metrics: [...ofEachTable('WriteThrottleEvents'), ...ofIndexes('WriteThrottleEvents')],
    },
    'Time of the other operations, p99': { width: 12, metrics: [by('operation', 'OperationTime', 'p99')] },
    'Requests of the other operations': {
      width: 12,
      stacked: true,
      metrics: [by('operation', 'OperationTime', 'SampleCount')],
    },
    'Rounds of the audit': {
      width: COLUMNS,
      period: HOUR_SECONDS,
      metrics: [
        own('AuditReads', { yAxis: 'right', label: 'read units' }),
        own('AuditRoundAge', { stat: 'Maximum', label: 'age (% of auditRoundHours)' }),
        own('AuditRoundsCompleted', { label: 'rounds completed' }),
      ],
    },
  }
}

/** An element of serverless.yml's `resources`. The plugin lists the alarms, and writes the body as JSON. */
export function dashboardOf(functions: readonly FunctionEntry[]) {
  const charts = chartsOf(functions)
  const alarms = { title: 'Alarms', alarms: [] }
  const widgets: object[] = [{ type: 'alarm', x: 0, y: 0, width: COLUMNS, height: 4, properties: alarms }]
  const shown = JSON.stringify(Object.values(charts))
  const others = each('Sum', ...NAMES.filter((name) => !new RegExp(`\\b${name}\\b`).test(shown)))
  let x = 0
  let y = 4
  for (const [title, { width = 8, metrics = others, ...view }] of Object.entries(charts)) {
    const properties = { title, region: `\${AWS::Region}`, view: 'timeSeries', ...view, metrics }
    widgets.push({ type: 'metric', x, y, width, height: ROW_HEIGHT, properties })
    const isFull = x + width >= COLUMNS
    ;[x, y] = isFull ? [0, y + ROW_HEIGHT] : [x + width, y]
  }
  // Dashboards have no region: their names are the account's (CloudWatch API Reference, PutDashboard).
  const DashboardName = { 'Fn::Sub': `\${self:service}-\${sls:stage}-\${AWS::Region}` }
  const Properties = { DashboardName, DashboardBody: { start: '-PT12H', periodOverride: 'inherit', widgets } }
  return { Resources: { Dashboard: { Type: 'AWS::CloudWatch::Dashboard', Properties } } }
}
