import { readServiceDefinition, type ServiceDefinition } from '../../../infra/local/service-definition.ts'
import { type Bench, type BenchContext, type Row, shown } from '../bench.ts'
import { lambdaEnvironment, ROOT } from '../bundles.ts'
import type { Cost } from '../scale/resolver-scenarios.ts'
import type { Lateness, Load } from '../scale/sustained.ts'
import { startWorker, type Worker } from '../worker.ts'
import type { ScaleSimulatorMethods } from '../workers/scale-simulator.ts'

const WORKSPACES = [1e3, 1e4, 1e5, 1e6]
const MOST_WORKSPACES = 1e6
/** Of the cost of a run with nothing overdue, between the smallest and the largest. */
const SAME = 0.1
const OVERDUE = { count: 10_000, withinSeconds: 60 }
const LATE_SECONDS = 120
const LOAD: Load = {
  perSecond: 1000,
  busyWorkspaces: 20_000,
  killedShare: 0.01,
  killedRunsShare: 0.1,
  seconds: 240,
}
/** Seconds of them show that it works. */
const QUICK = { count: 100, load: { ...LOAD, perSecond: 10, busyWorkspaces: 200, seconds: 130 } }
const MINUTES_A_MONTH = 43_200
/** A simulation of minutes takes minutes. */
const CALL_LIMIT_MS = 3_600_000

type Simulator = Worker<ScaleSimulatorMethods>
type WithRuns = Cost & { runs: number }

interface Found {
  idle: Record<number, { now: Cost; before: Cost }>
  overdue: { now: WithRuns; before: WithRuns }
  sustained: Lateness
}

/**
 * The resolver as it ships, with its adapters and the SDK's clients, in as many processes as serverless.yml starts, on a virtual
 * clock: on stores that answer and charge as DynamoDB and S3 do and hold what is computed from its number.
 */
export const scale: Bench = {
  name: 'scale',
  title: 'Any number of workspaces: the resolver',
  isExact: true,
  async run(context) {
    const definition = await readServiceDefinition(ROOT, 'local')
    const env = { ...lambdaEnvironment('http://unused'), ...definition.environment }
    const simulator = await startWorker<ScaleSimulatorMethods>('workers/scale-simulator.ts', {
      env,
      callLimitMs: CALL_LIMIT_MS,
    })
    const found = await simulate(simulator, definition, context)
    await simulator.stop()
    const { count, load } = context.isQuick ? QUICK : { count: OVERDUE.count, load: LOAD }
    return {
      rows: [...idleRows(found.idle), ...overdueRows(count, found.overdue), lateRow(load, found.sustained)],
      figures: { ...found },
    }
  },
}

async function simulate(
  simulator: Simulator,
  definition: ServiceDefinition,
  { isQuick, progress }: BenchContext,
): Promise<Found> {
  const found: Found['idle'] = {}
  for (const workspaces of WORKSPACES) {
    progress(`nothing overdue in ${asCount(workspaces)} workspaces`)
    const of = { workspaces, definition }
    found[workspaces] = {
      now: await simulator.call('idle', { ...of, how: 'now' }),
      before: await simulator.call('idle', { ...of, how: 'before' }),
    }
  }
  const of = { workspaces: MOST_WORKSPACES, definition }
  const { count, load } = isQuick ? QUICK : { count: OVERDUE.count, load: LOAD }
  progress(`${asCount(count)} overdue`)
  const now = await simulator.call('overdue', { ...of, count, how: 'now' })
  progress(`${asCount(count)} overdue, as before`)
  const before = await simulator.call('overdue', { ...of, count, how: 'before' })
  progress(`${load.perSecond} promotions a second`)
  const sustained = await simulator.call('sustain', { ...of, load })
  return { idle: found, overdue: { now, before }, sustained }
}

function idleRows(idle: Found['idle']): Row[] {
  const costs = Object.values(idle).map(({ now }) => now)
  const spread = (of: (cost: Cost) => number) => Math.max(...costs.map(of)) / Math.min(...costs.map(of)) - 1
  const most = Math.max(
    spread(({ dynamoDbCalls }) => dynamoDbCalls),
    spread(({ readUnits }) => readUnits),
    spread(({ dollars }) => dollars),
    spread(({ seconds }) => seconds),
  )
  return [
    ...Object.entries(idle).map(([workspaces, { now, before }]) =>
      shown(`nothing overdue in ${asCount(Number(workspaces))} workspaces, each minute`, versus(now, before)),
    ),
    {
      what: 'difference between these in calls, units, time and dollars, at most',
      bar: `≤ ${asPercent(SAME)}`,
      measured: `${asPercent(most)}; ${asDollars((costs[0]?.dollars ?? 0) * MINUTES_A_MONTH)} a month`,
      isMet: most <= SAME,
    },
  ]
}

function overdueRows(count: number, { now, before }: Found['overdue']): Row[] {
  return [
    {
      what: `${asCount(count)} overdue in a million workspaces: all resolved`,
      bar: `within ${OVERDUE.withinSeconds} s`,
      measured: `${asSeconds(now.seconds)} (before: ${asSeconds(before.seconds)}, ${before.runs} runs)`,
      isMet: now.seconds <= OVERDUE.withinSeconds,
    },
    shown(`what that takes`, versus(now, before)),
  ]
}

function lateRow({ perSecond, busyWorkspaces, killedShare }: Load, late: Lateness): Row {
  const { killed, left, p50, p99, most, runs, killedRuns, longestRunSeconds, looksPerMinute } = late
  const load = `${asCount(perSecond)} promotions a second in ${asCount(busyWorkspaces)} workspaces, ${asPercent(killedShare)} killed`
  const details =
    `p50 ${asSeconds(p50)}, p99 ${asSeconds(p99)}, of ${asCount(killed)} killed, ${left} left; ` +
    `${runs} runs, ${killedRuns} of them killed, the longest ${asSeconds(longestRunSeconds)}, ${asCount(Math.round(looksPerMinute))} looks a minute`
  return {
    what: `${load}: late at most`,
    bar: `≤ ${LATE_SECONDS} s`,
    measured: `${asSeconds(most)} (${details})`,
    isMet: most <= LATE_SECONDS && left === 0 && killed > 0,
  }
}

const versus = (now: Cost, before: Cost) => `${describe(now)} (before: ${describe(before)})`

const describe = ({ dynamoDbCalls, s3Lists, readUnits, writeUnits, seconds, dollars, machines }: Cost) =>
  `${asCount(dynamoDbCalls + s3Lists)} calls, ${asCount(readUnits)} + ${asCount(writeUnits)} units, ` +
  `${asSeconds(seconds)}, ${asDollars(dollars)}, ${machines} machine${machines === 1 ? '' : 's'}`

const asCount = (count: number) => count.toLocaleString('en-US')
const asPercent = (part: number) => `${(part * 100).toFixed(0)} %`
const asSeconds = (seconds: number) => `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`
const asDollars = (dollars: number) => `$${dollars.toPrecision(2)}`
