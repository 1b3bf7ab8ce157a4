import type { ServiceDefinition } from '../../../infra/local/service-definition.ts'
import { percentile, sum } from '../statistics.ts'
import { allAtOnce, arrivalsAt } from './arrivals.ts'
import { type Answered, type Outcome, type Scenario, simulate } from './simulation.ts'
import type { Tally } from './tally.ts'

/** What many promotions came to. */
export interface Summary extends Tally {
  requests: number
  /** By status and reason: `200`, `429 too_many_promotions`. */
  answers: Record<string, number>
  /** For those that succeeded: how much longer than a copy the slowest took, and one of a hundred. */
  beyondCopySeconds: { p99: number; most: number }
  processes: number
  leftOpen: number
}

export interface Overload extends Summary {
  /** Successes a second in each interval, by the time of the answer. */
  goodput: { untilSeconds: number; perSecond: number }[]
  /** In the time of the overload. */
  goodputUnderLoad: number
  /** Successes a second that arrived 10 s or more after it, and how many asked. */
  goodputAfter: number
  offeredAfter: number
  retryAfterSeconds: { p50: number; most: number }
}

const INTERVAL_SECONDS = 5
const OVERLOAD = 3
const OFFERED_AFTER = 0.9
const RECOVERY_SECONDS = 10
/** Of a rate that is sustained, 99 of 100 promotions are done this soon after their copy. */
const PROMPT_SECONDS = 1.5

/** So many promotions a second, each answered with 200, and none waiting ever longer. */
export async function sustains(
  { perSecond, copySeconds, seconds }: { perSecond: number; copySeconds: number; seconds: number },
  definition: ServiceDefinition,
): Promise<boolean> {
  const scenario: Scenario = {
    arrivals: arrivalsAt(perSecond, seconds),
    copySeconds,
    isEnough: ({ status }) => status !== 200,
  }
  const { answers } = await simulate(scenario, definition)
  const isAll = answers.length === scenario.arrivals.length && answers.every(({ status }) => status === 200)
  return isAll && beyondCopy(answers, copySeconds).p99 <= PROMPT_SECONDS
}

export async function burst(
  { count, ...options }: { count: number } & Pick<Scenario, 'copySeconds' | 'limits'>,
  definition: ServiceDefinition,
): Promise<Summary> {
  return summarize(await simulate({ arrivals: allAtOnce(count), ...options }, definition), options.copySeconds)
}

/** Three times the rate for some time, then somewhat less than the rate. */
export async function overload(
  {
    perSecond,
    seconds,
    secondsAfter,
    ...options
  }: { perSecond: number; seconds: number; secondsAfter: number } & Pick<Scenario, 'copySeconds' | 'limits'>,
  definition: ServiceDefinition,
): Promise<Overload> {
  const arrivals = [
    ...arrivalsAt(OVERLOAD * perSecond, seconds),
    ...arrivalsAt(OFFERED_AFTER * perSecond, secondsAfter, { seed: 5, from: seconds }),
  ]
  const outcome = await simulate({ arrivals, ...options }, definition)
  const successes = outcome.answers.filter(({ status }) => status === 200)
  const answeredWithin = (from: number, until: number) =>
    successes.filter(({ arrived, took }) => arrived + took >= from && arrived + took < until).length / (until - from)
  const after = outcome.answers.filter(({ arrived }) => arrived >= seconds + RECOVERY_SECONDS)
  const secondsCounted = secondsAfter - RECOVERY_SECONDS
  const retryAfters = outcome.answers.flatMap(({ retryAfter }) => retryAfter ?? [])
  return {
    ...summarize(outcome, options.copySeconds),
    goodput: Array.from({ length: Math.floor((seconds + secondsAfter) / INTERVAL_SECONDS) }, (_, interval) => {
      const untilSeconds = (interval + 1) * INTERVAL_SECONDS
      return { untilSeconds, perSecond: answeredWithin(untilSeconds - INTERVAL_SECONDS, untilSeconds) }
    }),
    goodputUnderLoad: answeredWithin(0, seconds),
    goodputAfter: after.filter(({ status }) => status === 200).length / secondsCounted,
    offeredAfter: after.length / secondsCounted,
    retryAfterSeconds: { p50: percentile(retryAfters, 0.5), most: Math.max(...retryAfters) },
  }
}

/**
 * A quota that is used up by promotions that are under way, and then more of them.
 * @returns what the ledger's writes cost, those that were refused among them
 */
export async function refusals(
  { underWay, refused }: { underWay: number; refused: number },
  definition: ServiceDefinition,
): Promise<Summary> {
  const copySeconds = 5
  // One byte is that of the first promotion of the workspace.
  const sizes = { sizeBytes: 1, quotaBytes: underWay + 1 }
  const late = Array.from({ length: refused }, (_, index) => 4 + index / refused)
  const outcome = await simulate({ arrivals: [...allAtOnce(underWay), ...late], copySeconds, ...sizes }, definition)
  return summarize(outcome, copySeconds)
}

/**
 * Write units of one promotion while nothing else goes on in its workspace.
 * @returns `first`: of one in a workspace that was quiet for so long that the resolver has looked at it since
 */
export async function atRest(definition: ServiceDefinition): Promise<{ usual: number; first: number }> {
  const writeUnits = async (isQuiet: boolean) => {
    const { tables } = await simulate({ arrivals: [0], copySeconds: 0.1, isQuiet }, definition)
    return sum(Object.entries(tables).map(([name, { units }]) => (name === 'keys' ? 0 : units)))
  }
  return { usual: await writeUnits(false), first: await writeUnits(true) }
}

function summarize({ answers, processes, leftOpen, ledger, tables }: Outcome, copySeconds: number): Summary {
  const counts: Record<string, number> = {}
  for (const { status, reason } of answers) {
    const what = reason === undefined ? String(status) : `${status} ${reason}`
    counts[what] = (counts[what] ?? 0) + 1
  }
  return {
    requests: answers.length,
    answers: counts,
    beyondCopySeconds: beyondCopy(answers, copySeconds),
    processes,
    leftOpen,
    ledger,
    tables,
  }
}

function beyondCopy(answers: Answered[], copySeconds: number): Summary['beyondCopySeconds'] {
  const seconds = answers.flatMap(({ status, took }) => (status === 200 ? took - copySeconds : []))
  return { p99: percentile(seconds, 0.99), most: percentile(seconds, 1) }
}
