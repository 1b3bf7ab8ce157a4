/**
 * The ledger's protocol as an explicit-state model: every order in which the processes of a scenario can take their steps,
 * and every fate of each of their calls (fates.ts), as many faults as the scenario says. In each state the promises of
 * docs/reliability.md are checked (invariants.ts); wherever nobody is at work any more, the resolver is run to its end.
 *
 * The fast suites allow each scenario one fault less, and leave out those without any. A longer run, with more faults in each scenario, and larger scenarios (some GB of memory, an hour):
 *
 *     MODEL_FAULTS=1 npx vitest run test/model/protocol-model.test.ts
 *
 * MODEL_STATES (20,000,000 if left out, some 70 bytes each) ends each exploration of a longer run; it then says `not all`.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { isShallow } from '../support/depth.ts'
import { explore } from './explore.ts'
import { createProtocol } from './protocol.ts'
import { LONG_SCENARIOS, SCENARIOS } from './scenarios.ts'

const moreFaults = Number(process.env.MODEL_FAULTS ?? (isShallow() ? -1 : 0))
const isLong = moreFaults > 0
const maxStates = Number(process.env.MODEL_STATES ?? 20_000_000)
const ENOUGH_STATES = isShallow() ? 100_000 : 2_000_000
const HOURS = 60 * 60 * 1000

const scenarios = [...Object.values(SCENARIOS), ...(isLong ? Object.values(LONG_SCENARIOS) : [])]
  .filter(({ faults }) => faults + moreFaults >= 0)
  .map((scenario) => [scenario.name, scenario] as const)

describe('the protocol keeps its promises in every state of', () => {
  const report: string[] = []
  let allStates = 0

  it.each(scenarios)(
    '%s',
    (_, scenario) => {
      const faults = scenario.faults + moreFaults
      const startedAt = performance.now()

      const { states, violation, isComplete } = explore(createProtocol(), { ...scenario, faults }, maxStates)

      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      report.push(`${states} states${isComplete ? '' : ', not all'}, ${faults} faults, ${seconds} s: ${scenario.name}`)
      allStates += states
      expect(violation && [violation.invariant, ...violation.trace].join('\n  ')).toBeUndefined()
      expect(isComplete || isLong).toBe(true)
    },
    12 * HOURS,
  )

  it(`which are at least ${ENOUGH_STATES.toLocaleString('en')}`, () => {
    expect(allStates).toBeGreaterThanOrEqual(ENOUGH_STATES)
  })

  afterAll(() => {
    console.log([...report, `${allStates} states in all`].join('\n'))
  })
})
