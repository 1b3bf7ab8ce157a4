import { CHARTS, type Chart, COLUMNS, type Line, NAMESPACE, SERVICE } from './dashboard-charts.ts'
import { METRIC_TABLE } from './metric-table.ts'

/** The metrics of ours in a chart, unless it shows them by a second dimension. */
function ownLines(title: string, { lines = [] }: Chart): Line[] {
  if (lines.some((line) => line.length === 1)) return []
  return Object.entries(METRIC_TABLE).flatMap(([name, { chart, stat = 'Sum' as const, label, axis }]): Line[] =>
    chart === title
      ? [[NAMESPACE, name, 'service', SERVICE, { stat, ...(axis && { yAxis: axis }), ...(label && { label }) }]]
      : [],
  )
}

/** An element of serverless.yml's `resources`. The plugin lists the alarms, and writes the body as JSON. */
export function dashboard() {
  const alarms = { title: 'Alarms', alarms: [] }
  const widgets: object[] = [{ type: 'alarm', x: 0, y: 0, width: COLUMNS, height: 4, properties: alarms }]
  let [x, y] = [0, 4]
  const height = 6
  for (const [title, chart] of Object.entries<Chart>(CHARTS)) {
    const { width = 8, stacked, period, lines = [] } = chart
    const own = {
      region: `\${AWS::Region}`,
      view: 'timeSeries',
      ...(stacked && { stacked }),
      ...(period && { period }),
    }
    const properties = { title, ...own, metrics: [...ownLines(title, chart), ...lines] }
    widgets.push({ type: 'metric', x, y, width, height, properties })
    const isFull = x + width >= COLUMNS
    ;[x, y] = isFull ? [0, y + height] : [x + width, y]
  }
  const Properties = {
    // Dashboards have no region: their names are the account's (CloudWatch API Reference, PutDashboard).
    DashboardName: { 'Fn::Sub': `\${self:service}-\${sls:stage}-\${AWS::Region}` },
    DashboardBody: { start: '-PT12H', periodOverride: 'inherit', widgets },
  }
  return { Resources: { Dashboard: { Type: 'AWS::CloudWatch::Dashboard', Properties } } }
}
