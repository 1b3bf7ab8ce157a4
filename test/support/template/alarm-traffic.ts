import { API_FUNCTIONS } from '../../../infra/deploy/functions.ts'
import { type Datapoint, identityOf, type Traffic } from './alarm-states.ts'

const API_FUNCTION_NAMES = API_FUNCTIONS.map(({ name }) => name)

const STAGE = 'container-file-promotion-prod'

const metric = (Namespace: string, MetricName: string, dimensions: Record<string, string>) =>
  identityOf({
    Namespace,
    MetricName,
    Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
  })
export const own = (name: string, detail = {}) => metric('ContainerFilePromotion', name, { service: STAGE, ...detail })
export const gateway = (name: string) => metric('AWS/ApiGateway', name, { ApiName: STAGE, Stage: 'prod' })
export const lambda = (name: string, slug: string) => metric('AWS/Lambda', name, { FunctionName: `${STAGE}-${slug}` })
export const crashes = (slug: string) =>
  metric('AWS/Lambda', 'Errors', { FunctionName: `${STAGE}-${slug}`, Resource: `${STAGE}-${slug}:live` })
const CONCURRENCY = { Service: 'Lambda', Type: 'Resource', Resource: 'ConcurrentExecutions', Class: 'None' }
export const USED = metric('AWS/Usage', 'ResourceCount', CONCURRENCY)
export const THROTTLED_WRITES = metric('AWS/DynamoDB', 'WriteThrottleEvents', { TableName: `${STAGE}-workspaces` })
export const RUNS = lambda('Invocations', 'resolve-reservations')
export const FAILED_RUNS = lambda('Errors', 'resolve-reservations')

export const minutes = (from: number, to: number, every = 1) =>
  Array.from({ length: Math.max(0, Math.ceil((to - from) / every)) }, (_, i) => from + i * every)
export const each = (at: number[], value: number, more?: Partial<Datapoint>): Datapoint[] =>
  at.map((minute) => ({ minute, value, ...more }))

/** What the gateway counts. @param failed how many requests fail in each of the minutes `failing` */
export function requests(at: number[], perMinute: number, failing: number[] = [], failed = perMinute): Traffic {
  const failedAt = (minute: number) => (failing.includes(minute) ? failed : 0)
  return {
    [gateway('Count')]: each(at, perMinute),
    [gateway('5XXError')]: at.map((minute) => ({ minute, value: failedAt(minute) })),
  }
}

/** The resolver's eight runs a minute, each over some seconds after it began. */
export const runs = (at: number[], seenAfter = 1): Traffic => ({
  [RUNS]: each(at, 8, { seenAfter }),
  [FAILED_RUNS]: each(at, 0, { seenAfter }),
})

/** What these runs report as their oldest leftover: a minute, except for one run in each minute. */
export const leftovers = (at: number[], oldestMs: (minute: number) => number | undefined): Traffic => ({
  [own('OldestLeftover')]: at.flatMap((minute) => [
    ...each([minute, minute, minute], 60_000),
    { minute, value: oldestMs(minute) ?? 0 },
  ]),
})

/** A resolver that finds nothing amiss, and reports it. */
export function resolver(at: number[]): Traffic {
  return { ...runs(at), ...leftovers(at, () => undefined), [own('ReservationsUnresolved')]: each(at, 0) }
}

/** A stage in which all is well for some hours: a round of the audit has just ended. */
export function healthy(until: number): Traffic {
  const at = minutes(0, until)
  const quiet = [...API_FUNCTION_NAMES.flatMap((name) => [crashes(name), lambda('Throttles', name)])]
  return {
    ...requests(at, 5),
    [own('PromotionTime')]: each(at, 300),
    ...Object.fromEntries(quiet.map((name) => [name, each(at, 0)])),
    [USED]: each(at, 500),
    ...resolver(at),
    [own('AuditRoundsCompleted')]: each([0], 1),
    [own('AuditFindings')]: each([0], 0),
  }
}
