/** docs/testing.md, "The explorer". A long run raises each bound by one. */
import { afterAll, describe, expect, it } from 'vitest'
import { depth } from '../../support/depth.ts'
import { skipWaits } from '../../support/virtual-waits.ts'
import { soundExplorer } from './plant.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'

skipWaits({ random: () => 1 })

const { exploreFromSmall, repeat } = await soundExplorer()

const more = process.env.EXPLORE === 'long' ? 1 : 0
const USUAL_STATES = { shallow: 100, deep: 500, whole: 2100 }[depth()]
const MAX_STATES = Number(process.env.EXPLORE_STATES ?? (more ? 200_000 : USUAL_STATES))
const ENOUGH_STATES = { shallow: 3000, deep: 20_000, whole: 100_000 }[depth()]
const TIMEOUT_MS = more ? 12 * 3_600_000 : 600_000

describe('every promise is kept in every state of', () => {
  const report: string[] = []
  let allStates = 0

  const scenarios = Object.entries<Scenario>(SCENARIOS).map(([id, scenario]) => [scenario.name, id, scenario] as const)

  it.each(scenarios)('%s', { timeout: TIMEOUT_MS }, async (name, id, usual) => {
    const { switches, faults, times } = usual.bounds
    const scenario = { ...usual, bounds: { switches: switches + more, faults: faults + more, times: times + more } }

    const { states, schedules, isComplete, bounds, violation } = await exploreFromSmall(scenario, MAX_STATES)

    const all = `all of ${bounds.switches} switches, ${bounds.faults} faults, ${bounds.times} times`
    report.push(`${states} states, ${schedules} schedules, ${all}${isComplete ? '' : ', some of more'}: ${name}`)
    allStates += states
    if (violation) {
      const story = await repeat({ ...scenario, bounds }, violation)
      const line = `STORY='${JSON.stringify([id, bounds, violation])}' npx vitest run --project fast`
      throw new Error(`${story}\nTo repeat it: ${line} test/protocol/explorer/explorer.test.ts`)
    }
  })

  it(`which are at least ${ENOUGH_STATES.toLocaleString('en')}`, () => {
    expect(allStates).toBeGreaterThanOrEqual(ENOUGH_STATES)
  })

  afterAll(() => console.log([...report, `${allStates} states in all`].join('\n')))
})

const [id, bounds, choices] = JSON.parse(process.env.STORY ?? '[]')

it.runIf(process.env.STORY)('a story is repeated', async () => {
  console.log(await repeat({ ...SCENARIOS[id as keyof typeof SCENARIOS], bounds }, choices))
})
