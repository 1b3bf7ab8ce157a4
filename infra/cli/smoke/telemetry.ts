import { setTimeout as sleep } from 'node:timers/promises'
import { CloudWatchClient, GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch'
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs'
import type { SmokeCheck, Trial } from './trial.ts'

/** Logs arrive after seconds, metrics after a minute or two. */
const RETRY_FOR_MS = 180_000
const PAUSE_MS = 5000

export const TELEMETRY_CHECKS: SmokeCheck[] = [
  { name: 'log lines', run: findLogLines },
  { name: 'metrics', run: findMetrics },
]

async function findLogLines({ stores, startedAtMs, requestIds }: Trial, abortSignal: AbortSignal): Promise<string> {
  const client = new CloudWatchLogsClient({})
  const logGroupName = `/aws/lambda/${stores.config.serviceName}-promote-container-file`
  const [requestId = ''] = requestIds
  const lines = async () => {
    const query = { logGroupName, filterPattern: `"${requestId}"`, startTime: startedAtMs, limit: 100 }
    const { events = [] } = await client.send(new FilterLogEventsCommand(query), { abortSignal })
    return events.length
  }
  return `${await eventually(`no log line of request ${requestId}`, lines, abortSignal)} of request ${requestId}`
}

async function findMetrics({ stores, startedAtMs, requestIds }: Trial, abortSignal: AbortSignal): Promise<string> {
  const client = new CloudWatchClient({})
  const sumOf = async () => {
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
    return Datapoints.reduce((total, { Sum = 0 }) => total + Sum, 0)
  }
  const sum = await eventually(`no metric Promotions for ${requestIds.length} requests`, sumOf, abortSignal)
  return `Promotions: ${sum}`
}

/** @returns the count, as soon as it is not 0 */
async function eventually(problem: string, count: () => Promise<number>, signal: AbortSignal): Promise<number> {
  const until = Date.now() + RETRY_FOR_MS
  while (true) {
    const found = await count()
    if (found > 0) return found
    if (Date.now() > until) throw new Error(`${problem} after ${RETRY_FOR_MS / 1000} s`)
    await sleep(PAUSE_MS, undefined, { signal })
  }
}
