import { describe, expect, it } from 'vitest'
import { isShallow } from '../../support/depth.ts'
import { replaceWaits } from '../../support/virtual-waits.ts'
import { plant } from './plant.ts'
import { PLANTED_IN_AUDIT } from './planted-audit.ts'
import { PLANTED_IN_RESOLVER } from './planted-resolver.ts'
import { PLANTED_STEPS } from './planted-steps.ts'
import { PLANTED_WRITES } from './planted-writes.ts'
import { SCENARIOS, within } from './scenarios.ts'

replaceWaits()

/** What a bug takes to be found at most; most take hundreds. */
const MAX_STATES = 50_000
const BUGS = { ...PLANTED_WRITES, ...PLANTED_STEPS, ...PLANTED_IN_RESOLVER, ...PLANTED_IN_AUDIT }

const bugs = Object.entries(BUGS).filter((_, index) => !isShallow() || index % 10 === 0)

describe('the explorer finds what it is for: a bug planted in the code', () => {
  it.each(bugs)('%s', async (name, [id, bounds, file, ...changes]) => {
    const { explore } = await plant(name, file, changes)

    const { violation } = await explore({ ...SCENARIOS[id], ...within(...bounds) }, MAX_STATES)

    expect(violation).toBeDefined()
  })
})
