import { describe, expect, it } from 'vitest'
import { depth } from '../../support/depth.ts'
import { replaceWaits } from '../../support/virtual-waits.ts'
import { plant, readPlantedBugs } from './plant.ts'

replaceWaits()

/** What a bug takes to be found at most; most take hundreds. */
const MAX_STATES = 50_000
/** Of so many bugs one is planted: they are ordered by what they are about, so that some of each kind are among them. */
const EACH = { shallow: 12, deep: 4, whole: 1 }[depth()]

describe('the explorer finds what it is for: a bug planted in the code', () => {
  const bugs = readPlantedBugs().filter((_, index) => index % EACH === 0)

  it.each(bugs.map((bug) => [bug.name, bug] as const))('%s', async (_, bug) => {
    const { explore } = await plant(bug)

    const { violation } = await explore(bug.scenario, MAX_STATES)

    expect(violation).toBeDefined()
  })
})
