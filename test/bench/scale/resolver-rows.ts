import { type Row, shown } from '../bench.ts'
import type { Cost } from './resolver-scenarios.ts'
import type { Lateness, Load } from './sustained.ts'
import { asCount, asDollars, asPercent, asSeconds } from './words.ts'

export type CostInRuns = Cost & { runs: number }

/** How much the cost of a run with nothing overdue may differ between the smallest and the largest. */
const SAME = 0.1
const MOST_SECONDS = 60
const LATE_SECONDS = 120
const MINUTES_A_MONTH = 43_200

export interface Idle {
  now: Cost
  before: Cost
  /** Were all workspaces read, each minute. */
  scan?: Cost
}

/** @param idle by number of workspaces */
export function idleRows(idle: Record<number, Idle>): Row[] {
  const costs = Object.values(idle).map(({ now }) => now)
  const spread = (of: (cost: Cost) => number) => Math.max(...costs.map(of)) / Math.min(...costs.map(of)) - 1
  const most = Math.max(
    spread(({ dynamoDbCalls }) => dynamoDbCalls),
    spread(({ readUnits }) => readUnits),
    spread(({ dollars }) => dollars),
    spread(({ seconds }) => seconds),
  )
  return [
    ...Object.entries(idle).map(([workspaces, { now, before, scan }]) =>
      shown(
        `nothing overdue in ${asCount(Number(workspaces))} workspaces, each minute`,
        `${describe(now)} (before: ${describe(before)}${scan ? `; reading them all: ${describe(scan)}` : ''})`,
      ),
    ),
    {
      what: 'difference between these in calls, units, time and dollars, at most',
      bar: `≤ ${asPercent(SAME)}`,
      measured: `${asPercent(most)}; ${asDollars((costs[0]?.dollars ?? 0) * MINUTES_A_MONTH)} a month`,
      isMet: most <= SAME,
    },
  ]
}

/** @param before of a tenth of them, since it does no more than a thousand in a run */
export function overdueRows(count: number, { now, before }: { now: CostInRuns; before: CostInRuns }): Row[] {
  return [
    {
      what: `${asCount(count)} overdue in a million workspaces: all resolved`,
      bar: `within ${MOST_SECONDS} s`,
      measured: `${asSeconds(now.seconds)} (before: a tenth of them in ${asSeconds(before.seconds)}; a thousand in a minute's run, no more)`,
      isMet: now.seconds <= MOST_SECONDS,
    },
    shown('what that takes', `${describe(now)} (before, a tenth of them: ${describe(before)})`),
  ]
}

export function lateRow(
  { perSecond, busyWorkspaces, killedShare, killedRunsShare, seconds }: Load,
  late: Lateness,
): Row {
  const { killed, left, p50, p99, most, runs, killedRuns, longestRunSeconds, looksPerMinute } = late
  const load = `${asCount(perSecond)} promotions a second for ${seconds} s in ${asCount(busyWorkspaces)} workspaces, ${asPercent(killedShare)} killed`
  const details =
    `p50 ${asSeconds(p50)}, p99 ${asSeconds(p99)}, of ${asCount(killed)} killed, ${left} left; ` +
    `${runs} runs, ${killedRuns} of them killed, the longest ${asSeconds(longestRunSeconds)}, ${asCount(Math.round(looksPerMinute))} looks a minute`
  const measured = `${asSeconds(most)} (${details})`
  if (killedRunsShare > 0) {
    return shown(`${load}, and ${asPercent(killedRunsShare)} of the resolver's runs: late at most`, measured)
  }
  return {
    what: `${load}: late at most`,
    bar: `≤ ${LATE_SECONDS} s`,
    measured,
    isMet: most <= LATE_SECONDS && left === 0 && killed > 0,
  }
}

/** Of instances that worked at the same time. */
export function together(parts: readonly CostInRuns[]): CostInRuns {
  const sum = { ...parts[0] } as CostInRuns
  for (const part of parts.slice(1)) {
    for (const [name, value] of Object.entries(part)) sum[name as keyof Cost] += value
  }
  const most = (of: (part: CostInRuns) => number) => Math.max(...parts.map(of))
  return { ...sum, seconds: most(({ seconds }) => seconds), runs: most(({ runs }) => runs) }
}

const describe = ({ dynamoDbCalls, s3Lists, readUnits, writeUnits, seconds, dollars, instances }: Cost) =>
  `${asCount(dynamoDbCalls + s3Lists)} calls, ${asCount(readUnits)} + ${asCount(writeUnits)} units, ` +
  `${asSeconds(seconds)}, ${asDollars(dollars)}, ${instances} instance${instances === 1 ? '' : 's'}`
