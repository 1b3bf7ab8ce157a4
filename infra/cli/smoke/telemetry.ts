import { setTimeout as sleep } from 'node:timers/promises'
import { CloudWatchClient, GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch'
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs'
import { NAMESPACE } from '../../../lib/metrics.ts'
import type { Trial } from './trial.ts'

/** Logs arrive after seconds, metrics after a minute or two. */
const RETRY_FOR_MS = 180_000
const PAUSE_MS = 1000

export async function findLogLines(
  { stores, startedAtMs, requestId }: Trial,
  abortSignal: AbortSignal,
): Promise<string> {
  const client = new CloudWatchLogsClient({})
  const logGroupName = `/aws/lambda/${stores.config.serviceName}-promote-container-file`
  const lines = async () => {
    const query = { logGroupName, filterPattern: `"${requestId}"`, startTime: startedAtMs, limit: 100 }
    const { events = [] } = await client.send(new FilterLogEventsCommand(query), { abortSignal })
    return events.length
  }
  return `${await eventually(lines, `there is none of request ${requestId} yet`, abortSignal)} of request ${requestId}`
}

export async function findMetrics({ stores, startedAtMs }: Trial, abortSignal: AbortSignal): Promise<string> {
  const client = new CloudWatchClient({})
  const sumOf = async () => {
    const query = new GetMetricStatisticsCommand({
      Namespace: NAMESPACE,
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
  return `Promotions: ${await eventually(sumOf, 'there is no Promotions yet', abortSignal)}`
}

/** @returns what is found, once that is anything @throws Error with the problem when that is late */
export async function eventually(
  find: () => Promise<unknown>,
  problem: string,
  signal: AbortSignal,
  withinMs = RETRY_FOR_MS,
) {
  for (const until = Date.now() + withinMs; ; await sleep(PAUSE_MS, undefined, { signal })) {
    const found = await find()
    if (found) return found
    if (Date.now() > until) throw new Error(problem)
  }
}
