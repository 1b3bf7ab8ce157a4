import { describe, expect, it } from 'vitest'
import { skipWaits } from '../../support/virtual-waits.ts'
import type { Exploration } from './explore.ts'
import { type PlantedBug, placeOf, plant, readPlantedBugs, soundExplorer } from './plant.ts'
import type { Fate } from './process.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'

skipWaits({ random: () => 1 })

const { explore } = await soundExplorer()

/** No bug takes more states to be found; most take hundreds. */
const MAX_STATES = 20_000
/** The code as it is has at least so many states within the same bounds, or as many as the bug takes, if they are more. */
const LEAST_SOUND_STATES = 2000

function scenarioOf(bug: PlantedBug): Scenario {
  const { id, bounds, fates } = placeOf(bug)
  return { ...SCENARIOS[id as keyof typeof SCENARIOS], bounds, ...(fates.length > 0 && { fates: fates as Fate[] }) }
}

const sound = new Map<string, Exploration>()

/** Once for all bugs that are looked for there, unless a later one takes more states. */
async function exploreSound(bug: PlantedBug, states: number): Promise<Exploration> {
  const before = sound.get(bug.where)
  if (before && (before.isComplete || before.states >= states)) return before
  const explored = await explore(scenarioOf(bug), Math.max(LEAST_SOUND_STATES, states))
  sound.set(bug.where, explored)
  return explored
}

describe('the explorer finds what it is for: a bug planted in the code', () => {
  const bugs = readPlantedBugs(`${import.meta.dirname}/planted`)

  it.each(bugs.map((bug) => [bug.name, bug] as const))('%s', async (_, bug) => {
    const planted = await plant(bug)

    const { violation, states } = await planted.explore(scenarioOf(bug), MAX_STATES)

    expect(violation).toBeDefined()
    // Otherwise it would be found in sound code, too.
    expect((await exploreSound(bug, states)).violation).toBeUndefined()
  })
})
