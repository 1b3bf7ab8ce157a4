/**
 * Runs the real use cases, the resolver and the audit on stores in memory, every call a step, and goes through all schedules
 * of each scenario within its bounds (scenarios.ts). In each state the promises of docs/reliability.md are checked.
 *
 * A longer run raises each bound by one, and ends each scenario at EXPLORE_STATES (200,000 if left out):
 *
 *     EXPLORE=long npx vitest run --project deep test/protocol/explorer
 */
import { afterAll, describe, expect, it } from 'vitest'
import { isShallow } from '../../support/depth.ts'
import { replaceWaits } from '../../support/virtual-waits.ts'
import { exploreFromSmall, repeat, type Violation } from './explore.ts'
import { boundsOf, SCENARIOS, type Scenario, type ScenarioId } from './scenarios.ts'

replaceWaits()

const isLong = process.env.EXPLORE === 'long'
const MAX_STATES = Number(process.env.EXPLORE_STATES ?? (isLong ? 200_000 : isShallow() ? 600 : 4000))
const ENOUGH_STATES = isShallow() ? 10_000 : 100_000
const HOURS = 60 * 60 * 1000

describe('every promise is kept in every state of', () => {
  const report: string[] = []
  let allStates = 0

  const scenarios = Object.entries<Scenario>(SCENARIOS).map(([id, scenario]) => [scenario.name, id, scenario] as const)

  it.each(scenarios)('%s', { timeout: 12 * HOURS }, async (name, id, usual) => {
    const scenario = isLong ? { ...usual, bounds: boundsOf(usual.bounds, 1) } : usual

    const { states, schedules, isComplete, bounds, violation } = await exploreFromSmall(scenario, MAX_STATES)

    const { switches, faults, times } = bounds
    const last = `${switches} switches, ${faults} faults, ${times} times`
    report.push(
      `${states} states, ${schedules} schedules, all of ${last}${isComplete ? '' : ', some of more'}: ${name}`,
    )
    allStates += states
    if (violation) throw new Error(await tell(id, { ...scenario, bounds }, violation))
  })

  it(`which are at least ${ENOUGH_STATES.toLocaleString('en')}`, () => {
    expect(allStates).toBeGreaterThanOrEqual(ENOUGH_STATES)
  })

  afterAll(() => console.log([...report, `${allStates} states in all`].join('\n')))
})

async function tell(id: string, scenario: Scenario, { choices }: Violation): Promise<string> {
  const story = await repeat(scenario, choices)
  const line = `STORY='${JSON.stringify([id, scenario.bounds, choices])}' npx vitest run --project deep test/protocol/explorer`
  return [...story, `To repeat it: ${line}`].join('\n')
}

const [id, bounds, choices] = JSON.parse(process.env.STORY ?? '[]')

it.runIf(process.env.STORY)('a story is repeated', async () => {
  console.log((await repeat({ ...SCENARIOS[id as ScenarioId], bounds }, choices)).join('\n'))
})
