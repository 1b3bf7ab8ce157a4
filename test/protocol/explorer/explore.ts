import type { Bounds, Scenario } from './scenarios.ts'
import { Schedule } from './schedule.ts'
import type { Move } from './world.ts'

export interface Exploration {
  states: number
  schedules: number
  /** Whether all schedules within the bounds were seen. */
  isComplete: boolean
  violation?: Violation
}

export interface Violation {
  message: string
  /** Which move was made, of those that were possible, at each step: repeat() takes them. */
  choices: number[]
}

/** A state on the way that is being looked at, with what has not been tried there yet. */
interface Choice {
  moves: Move[]
  next: number
  /** What processes had seen after the move. */
  seen: string[]
}

/**
 * Goes through all schedules of a scenario within its bounds, deepest first: each begins anew and replays the way to the last
 * state that has something left to try. A state that was seen with as much left of the bounds is not gone into again.
 */
export async function explore(scenario: Scenario, maxStates = Number.POSITIVE_INFINITY): Promise<Exploration> {
  const seen = new Map<string, Bounds[]>()
  const way: Choice[] = []
  const report: Exploration = { states: 0, schedules: 0, isComplete: false }
  do {
    const schedule = await Schedule.begin(scenario)
    report.schedules++
    try {
      for (const [step, choice] of way.entries()) {
        const isNew = step === way.length - 1
        await schedule.apply(choice.moves[choice.next] as Move, isNew ? undefined : choice.seen)
        choice.seen = schedule.seen
      }
      schedule.check()
      while (enter(seen, schedule)) {
        report.states = seen.size
        const moves = schedule.moves()
        if (moves.length === 0) {
          await schedule.world.rest()
          break
        }
        const choice = { moves, next: 0, seen: schedule.seen }
        way.push(choice)
        await schedule.apply(moves[0] as Move)
        choice.seen = schedule.seen
        schedule.check()
      }
    } catch (error) {
      return { ...report, violation: { message: (error as Error).message, choices: way.map(({ next }) => next) } }
    }
    while (way.length > 0 && isExhausted(way.at(-1) as Choice)) way.pop()
    const last = way.at(-1)
    if (last) last.next++
    if (report.states >= maxStates) return report
  } while (way.length > 0)
  return { ...report, isComplete: true }
}

const isExhausted = ({ moves, next }: Choice) => next + 1 >= moves.length

/** @returns false: it was seen with as much left */
function enter(seen: Map<string, Bounds[]>, schedule: Schedule): boolean {
  const key = schedule.key()
  const before = seen.get(key) ?? []
  const { switches, faults, times } = schedule.left
  if (before.some((left) => left.switches >= switches && left.faults >= faults && left.times >= times)) return false
  before.push({ switches, faults, times })
  seen.set(key, before)
  return true
}

/**
 * Looks within small bounds first, so that what it finds is short. A state is counted again within each of them.
 * @returns bounds within which the violation is; without one, the last within which all schedules were seen
 */
export async function exploreFromSmall(scenario: Scenario, maxStates = Number.POSITIVE_INFINITY) {
  const sum: Exploration & { bounds: Bounds } = { states: 0, schedules: 0, isComplete: true, bounds: scenario.bounds }
  for (const bounds of boundsUpTo(scenario.bounds)) {
    const found = await explore({ ...scenario, bounds }, maxStates - sum.states)
    sum.states += found.states
    sum.schedules += found.schedules
    sum.isComplete = found.isComplete
    if (found.isComplete || found.violation) sum.bounds = bounds
    if (found.violation) return { ...sum, violation: found.violation }
    if (!found.isComplete) break
  }
  return sum
}

function boundsUpTo({ switches, faults, times }: Bounds): Bounds[] {
  const upTo = (most: number) => Array.from({ length: most + 1 }, (_, each) => each)
  return upTo(switches)
    .flatMap((switches) => upTo(faults).flatMap((faults) => upTo(times).map((times) => ({ switches, faults, times }))))
    .sort((one, other) => sumOf(one) - sumOf(other))
}

const sumOf = ({ switches, faults, times }: Bounds) => switches + faults + times

/** Makes these choices, and says what happened. @returns one line for each step, and the violation, if there is one */
export async function repeat(scenario: Scenario, choices: readonly number[]): Promise<string[]> {
  const schedule = await Schedule.begin(scenario)
  const story: string[] = []
  try {
    for (const choice of choices) {
      const move = schedule.moves()[choice] as Move
      story.push(schedule.world.describe(move))
      await schedule.apply(move)
      schedule.check()
    }
    if (schedule.moves().length === 0) await schedule.world.rest()
  } catch (error) {
    story.push((error as Error).message)
  }
  return story
}
