import type { Bounds, Scenario } from './scenarios.ts'
import { Schedule } from './schedule.ts'
import type { Move } from './world.ts'

export interface Exploration {
  states: number
  schedules: number
  /** Whether all schedules within the bounds were seen. */
  isComplete: boolean
  /** A violation of a promise: which move was made, of those that were possible, at each step. repeat() takes them. */
  violation?: number[]
}

/**
 * Goes through all schedules of a scenario within its bounds, deepest first: each begins anew and replays the way to the last
 * state that has something left to try. A state that was seen with as much left of the bounds is not gone into again.
 */
export async function explore(scenario: Scenario, maxStates: number): Promise<Exploration> {
  const begin = await Schedule.prepare(scenario)
  const seen = new Map<string, Bounds[]>()
  /** The states on the way to the one that is looked at, with what has not been tried there yet. */
  const way: { moves: Move[]; next: number }[] = []
  const report: Exploration = { states: 0, schedules: 0, isComplete: false }
  do {
    const schedule = await begin()
    report.schedules++
    try {
      for (const { moves, next } of way) await schedule.apply(moves[next] as Move)
      schedule.world.check()
      while (enter(seen, schedule)) {
        report.states = seen.size
        const moves = schedule.moves()
        if (moves.length === 0) {
          await schedule.world.rest()
          break
        }
        way.push({ moves, next: 0 })
        await schedule.apply(moves[0] as Move)
        schedule.world.check()
      }
    } catch {
      return { ...report, violation: way.map(({ next }) => next) }
    }
    let last = way.at(-1)
    while (last && ++last.next >= last.moves.length) {
      way.pop()
      last = way.at(-1)
    }
    if (report.states >= maxStates) return report
  } while (way.length > 0)
  return { ...report, isComplete: true }
}

/** @returns false: it was seen with as much left */
function enter(seen: Map<string, Bounds[]>, schedule: Schedule): boolean {
  const key = schedule.key()
  const before = seen.get(key) ?? []
  const { switches, faults, times } = schedule.left
  if (before.some((left) => left.switches >= switches && left.faults >= faults && left.times >= times)) return false
  seen.set(key, [...before, { switches, faults, times }])
  return true
}

/**
 * Looks within small bounds first, so that what it finds is short. A state is counted again within each of them.
 * @returns bounds within which the violation is; without one, the last within which all schedules were seen
 */
export async function exploreFromSmall(
  scenario: Scenario,
  maxStates: number,
): Promise<Exploration & { bounds: Bounds }> {
  let sum = { states: 0, schedules: 0, isComplete: true, bounds: scenario.bounds }
  for (const bounds of boundsUpTo(scenario.bounds)) {
    const { states, schedules, isComplete, violation } = await explore({ ...scenario, bounds }, maxStates - sum.states)
    sum = { ...sum, states: sum.states + states, schedules: sum.schedules + schedules, isComplete }
    if (isComplete || violation) sum.bounds = bounds
    if (violation) return { ...sum, violation }
    if (!isComplete) break
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

/** Makes these choices. @returns what happened, and the violation, if there is one */
export async function repeat(scenario: Scenario, choices: readonly number[]): Promise<string> {
  const begin = await Schedule.prepare(scenario)
  const schedule = await begin()
  try {
    for (const choice of choices) {
      await schedule.apply(schedule.moves()[choice] as Move)
      schedule.world.check()
    }
    if (schedule.moves().length === 0) await schedule.world.rest()
  } catch (error) {
    schedule.world.story.push(`${error}`)
  }
  return schedule.world.story.join('\n')
}
