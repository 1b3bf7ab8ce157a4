import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { casesOf } from '../../support/depth.ts'
import { replaceWaits } from '../../support/virtual-waits.ts'
import { type Action, FILES, WORKSPACES } from './action.ts'
import { History } from './history.ts'
import type { Fate } from './process.ts'

// Time is the history's: nobody waits.
replaceWaits()

const HISTORIES = casesOf('AUDIT_HISTORIES', 250)
const SEED = process.env.HISTORY_SEED === undefined ? {} : { seed: Number(process.env.HISTORY_SEED) }

const fate = fc.oneof(
  { weight: 20, arbitrary: fc.constant<Fate>('ok') },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Fate>('fail_before', 'fail_after', 'late', 'repeated', 'refused', 'kill_after'),
  },
)
const index = fc.nat({ max: 20 })
const workspace = fc.nat({ max: WORKSPACES - 1 })

const aheadMs = fc.constant(0)

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 60, arbitrary: fc.record({ do: fc.constant('step' as const), process: index, fate }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('promote' as const),
      workspace,
      file: fc.nat({ max: FILES - 1 }),
      key: fc.option(fc.nat({ max: 1 }), { nil: undefined }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('delete' as const), document: index, byApi: fc.constant(true) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('audit' as const), aheadMs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resolve' as const), aheadMs }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('drift' as const), workspace, bytes: fc.constantFrom(7, -7, 40) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('wait' as const), durationMs: fc.constantFrom(1000, 130_000, -5000) }),
  },
)
const actions = fc.array(action, { minLength: 40, maxLength: 300, size: 'max' })

describe('an audit amid promotions and deletions', () => {
  it(`finds drift exactly when there is some, and corrects it once, in ${HISTORIES} histories`, {
    timeout: 3_600_000,
  }, async () => {
    const seen = { ended: 0, amidChanges: 0, notAddedUp: 0, drifts: 0 }
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), actions, async (documents, steps) => {
        const history = new History()
        await history.begin(documents)
        for (const each of steps) await history.act(each)
        await history.end()
        for (const name of ['ended', 'amidChanges', 'notAddedUp', 'drifts'] as const) seen[name] += history.audits[name]
      }),
      { numRuns: HISTORIES, ...SEED },
    )
    expect(seen.amidChanges).toBeGreaterThan(seen.ended / 2)
    expect(seen.notAddedUp).toBeLessThan(seen.ended / 10)
  })
})
