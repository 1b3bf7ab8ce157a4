import { setTimeout as sleep } from 'node:timers/promises'
import { CloudWatchClient, GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch'
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs'
import type { SmokeCheck } from './checks.ts'
import { type SmokeContext, SmokeProblem } from './context.ts'

/** Logs arrive after seconds, metrics after a minute or two. */
const PATIENCE_MS = 180_000
const PAUSE_MS = 5000
/** Logged by functions/wiring/wire-api.ts. */
const REFUSED = 'S3 answered 403 for a missing key'

/** Checks that logs and metrics show the run. */
export const TELEMETRY_CHECKS: SmokeCheck[] = [
  { name: 'log lines', look: findLogLines },
  { name: 'metrics', look: findMetrics },
]

async function findLogLines(context: SmokeContext, abortSignal: AbortSignal): Promise<string> {
  const client = new CloudWatchLogsClient({})
  const logGroupName = `/aws/lambda/${context.stores.config.serviceName}-promote-container-file`
  const find = async (filterPattern: string) => {
    const query = { logGroupName, filterPattern, startTime: context.startedAtMs, limit: 100 }
    const { events = [] } = await client.send(new FilterLogEventsCommand(query), { abortSignal })
    return events
  }
  const [requestId = ''] = context.requestIds
  await eventually(
    `no log line of request ${requestId}`,
    async () => (await find(`"${requestId}"`)).length > 0,
    abortSignal,
  )
  const refusals = await find(`"${REFUSED}"`)
  const way = refusals.length > 0 ? '403, so that its listing is asked' : '404'
  return `request ${requestId} is there; for a missing key, HeadObject answers ${way}`
}

async function findMetrics(
  { stores, startedAtMs, requestIds }: SmokeContext,
  abortSignal: AbortSignal,
): Promise<string> {
  const client = new CloudWatchClient({})
  let sum = 0
  const arrived = async () => {
    const query = new GetMetricStatisticsCommand({
      Namespace: 'ContainerFilePromotion',
      MetricName: 'Promotions',
      Dimensions: [{ Name: 'service', Value: stores.config.serviceName }],
      StartTime: new Date(startedAtMs - 60_000),
      EndTime: new Date(Date.now() + 60_000),
      Period: 60,
      Statistics: ['Sum'],
    })
    const { Datapoints = [] } = await client.send(query, { abortSignal })
    sum = Datapoints.reduce((total, { Sum = 0 }) => total + Sum, 0)
    return sum > 0
  }
  await eventually(`no metric Promotions for ${requestIds.length} requests`, arrived, abortSignal)
  return `Promotions: ${sum}`
}

async function eventually(problem: string, isThere: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  const until = Date.now() + PATIENCE_MS
  while (!(await isThere())) {
    if (Date.now() > until) throw new SmokeProblem(`${problem} after ${PATIENCE_MS / 1000} s`)
    await sleep(PAUSE_MS, undefined, { signal })
  }
}
