import { createRandom, percentile } from '../statistics.ts'
import { type Answered, type LedgerUse, type Outcome, type Scenario, simulate } from './simulation.ts'

type Circumstances = Pick<Scenario, 'copySeconds' | 'limits'>

interface Rate extends Circumstances {
  perSecond: number
  seconds: number
}

export interface Summary {
  ledger: LedgerUse
  /** By status and reason: `200`, `429 too_many_promotions`. */
  answers: Record<string, number>
  /** How much longer than a copy the slowest of the successful ones took. */
  beyondCopySeconds: number
  leftOpen: number
}

export interface Overload extends Summary {
  /** Successes a second during the overload. */
  goodputUnderLoad: number
  /** Successes a second that arrived 10 s or more after it, and how many asked. */
  goodputAfter: number
  offeredAfter: number
}

const OVERLOAD = 3
const OFFERED_AFTER = 0.9
const RECOVERY_SECONDS = 10
/** At a sustained rate, 99 of 100 promotions are done this soon after their copy. */
const PROMPT_SECONDS = 1.5

/** Whether this many promotions a second are all answered with 200, without waiting longer and longer. */
export async function sustains({ perSecond, copySeconds, seconds }: Rate): Promise<boolean> {
  const scenario: Scenario = {
    arrivals: arrivalsAt(perSecond, seconds),
    copySeconds,
    isEnough: ({ status }) => status !== 200,
  }
  const { answers } = await simulate(scenario)
  const isAll = answers.length === scenario.arrivals.length && answers.every(({ status }) => status === 200)
  return isAll && beyondCopy(answers, copySeconds, 0.99) <= PROMPT_SECONDS
}

export async function burst({ count, ...options }: Circumstances & { count: number }): Promise<Summary> {
  return summarize(await simulate({ arrivals: allAtOnce(count), ...options }), options.copySeconds)
}

/** Three times the rate for some time, then somewhat less than the rate. */
export async function overload(asked: Rate & { secondsAfter: number }): Promise<Overload> {
  const { perSecond, seconds, secondsAfter, ...options } = asked
  const arrivals = [
    ...arrivalsAt(OVERLOAD * perSecond, seconds),
    ...arrivalsAt(OFFERED_AFTER * perSecond, secondsAfter, { seed: 5, from: seconds }),
  ]
  const outcome = await simulate({ arrivals, ...options })
  const successes = outcome.answers.filter(({ status }) => status === 200)
  const answeredWithin = (from: number, until: number) =>
    successes.filter(({ arrived, took }) => arrived + took >= from && arrived + took < until).length / (until - from)
  const after = outcome.answers.filter(({ arrived }) => arrived >= seconds + RECOVERY_SECONDS)
  const secondsCounted = secondsAfter - RECOVERY_SECONDS
  return {
    ...summarize(outcome, options.copySeconds),
    goodputUnderLoad: answeredWithin(0, seconds),
    goodputAfter: after.filter(({ status }) => status === 200).length / secondsCounted,
    offeredAfter: after.length / secondsCounted,
  }
}

function summarize({ answers, leftOpen, ledger }: Outcome, copySeconds: number): Summary {
  const counts: Record<string, number> = {}
  for (const { status, reason } of answers) {
    const what = reason === undefined ? String(status) : `${status} ${reason}`
    counts[what] = (counts[what] ?? 0) + 1
  }
  return { answers: counts, beyondCopySeconds: beyondCopy(answers, copySeconds, 1), leftOpen, ledger }
}

/** @param part of the successful ones that took no longer */
function beyondCopy(answers: Answered[], copySeconds: number, part: number): number {
  const seconds = answers.flatMap(({ status, took }) => (status === 200 ? took - copySeconds : []))
  return percentile(seconds, part)
}

/** When independent requests arrive, in seconds, at an average rate (a Poisson process). */
function arrivalsAt(perSecond: number, seconds: number, { seed = 3, from = 0 } = {}): number[] {
  const random = createRandom(seed)
  const arrivals: number[] = []
  for (let at = from; ; ) {
    at -= Math.log(1 - random()) / perSecond
    if (at >= from + seconds) return arrivals
    arrivals.push(at)
  }
}

/** This many at once: within a tenth of a second. */
function allAtOnce(count: number): number[] {
  const random = createRandom(1)
  return Array.from({ length: count }, () => random() / 10).sort((one, other) => one - other)
}
