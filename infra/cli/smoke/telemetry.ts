import { setTimeout as sleep } from 'node:timers/promises'
import { CloudWatch } from '@aws-sdk/client-cloudwatch'
import { CloudWatchLogs } from '@aws-sdk/client-cloudwatch-logs'
import { NAMESPACE } from '../../../lib/metrics.ts'
import type { Trial } from './trial.ts'

/** Logs arrive after seconds, metrics after a minute or two. */
const RETRY_FOR_MS = 180_000
const PAUSE_MS = 1000

export async function findLogLines(trial: Trial, abortSignal: AbortSignal): Promise<string> {
  const { stores, startedAtMs: startTime, requestId } = trial
  const logGroupName = `/aws/lambda/${stores.config.serviceName}-promote-container-file`
  const query = { logGroupName, filterPattern: `"${requestId}"`, startTime, limit: 100 }
  const lines = async () => (await new CloudWatchLogs().filterLogEvents(query, { abortSignal })).events?.length
  return `${await eventually(lines, `there is none of request ${requestId} yet`, abortSignal)} of request ${requestId}`
}

export async function findMetrics({ stores, startedAtMs }: Trial, abortSignal: AbortSignal): Promise<string> {
  const sumOf = async () => {
    const Dimensions = [{ Name: 'service', Value: stores.config.serviceName }]
    const times = { StartTime: new Date(startedAtMs - 60_000), EndTime: new Date(Date.now() + 60_000), Period: 60 }
    const metric = { Namespace: NAMESPACE, MetricName: 'Promotions', Dimensions, Statistics: ['Sum' as const] }
    const { Datapoints = [] } = await new CloudWatch().getMetricStatistics({ ...metric, ...times }, { abortSignal })
    return Datapoints.reduce((total, { Sum = 0 }) => total + Sum, 0)
  }
  return `Promotions: ${await eventually(sumOf, 'there is no Promotions yet', abortSignal)}`
}

/** @returns what is found, once that is anything @throws Error with the problem when that is late */
export async function eventually(find: () => unknown, problem: string, signal: AbortSignal, withinMs = RETRY_FOR_MS) {
  for (const until = Date.now() + withinMs; ; await sleep(PAUSE_MS, undefined, { signal })) {
    const found = await find()
    if (found) return found
    if (Date.now() > until) throw new Error(problem)
  }
}
