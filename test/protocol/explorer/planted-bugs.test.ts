import { describe, expect, it } from 'vitest'
import { skipWaits } from '../../support/virtual-waits.ts'
import { type PlantedBug, placeOf, plant, readPlantedBugs, soundExplorer } from './plant.ts'
import type { Fate } from './process.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'

skipWaits({ random: () => 1 })

const { explore } = await soundExplorer()

/** No bug takes more states to be found; most take hundreds. */
const MAX_STATES = 20_000

function scenarioOf(bug: PlantedBug): Scenario {
  const { id, bounds, fates } = placeOf(bug)
  return { ...SCENARIOS[id as keyof typeof SCENARIOS], bounds, ...(fates.length > 0 && { fates: fates as Fate[] }) }
}

describe('the explorer finds what it is for: a bug planted in the code', () => {
  const bugs = readPlantedBugs(`${import.meta.dirname}/planted`)

  it.each(bugs.map((bug) => [bug.name, bug] as const))('%s', async (_, bug) => {
    const planted = await plant(bug)

    const { violation, states } = await planted.explore(scenarioOf(bug), MAX_STATES)

    expect(violation).toBeDefined()
    // The code as it is keeps its promises in as many states of the same scenario.
    expect((await explore(scenarioOf(bug), states)).violation).toBeUndefined()
  })
})
