import fc from 'fast-check'
import { describe, it } from 'vitest'
import { casesOf } from '../../support/depth.ts'
import { replaceWaits } from '../../support/virtual-waits.ts'
import { type Action, FILES, WORKSPACES } from './action.ts'
import { History } from './history.ts'
import type { Fate } from './process.ts'
import { MAX_LAG } from './timeline.ts'

// Time is the history's: nobody waits.
replaceWaits()

const HISTORIES = casesOf('HISTORIES', 2500)
const SEED = process.env.HISTORY_SEED === undefined ? {} : { seed: Number(process.env.HISTORY_SEED) }

const fate = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Fate>('ok') },
  {
    weight: 5,
    arbitrary: fc.constantFrom<Fate>(
      'fail_before',
      'fail_after',
      'late',
      'repeated',
      'refused',
      'refused_after',
      'kill_before',
      'kill_after',
    ),
  },
)
const index = fc.nat({ max: 20 })
const step = fc.record({ do: fc.constant('step' as const), process: index, fate })
const workspace = fc.nat({ max: WORKSPACES - 1 })
const file = fc.nat({ max: FILES - 1 })

/** Of a process's clock: 0, or so much that no lease is right. */
const aheadMs = fc.constantFrom(0, 0, 180_000, 1_800_000)

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 40, arbitrary: step },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('promote' as const),
      workspace,
      file,
      key: fc.option(fc.nat({ max: 1 }), { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('delete' as const), document: index, byApi: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('list' as const),
      workspace,
      order: fc.constantFrom('asc' as const, 'desc' as const),
      limit: fc.integer({ min: 1, max: 3 }),
      lags: fc.array(fc.nat({ max: MAX_LAG }), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('download' as const), document: index }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('resolve' as const), aheadMs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('audit' as const), aheadMs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), process: index }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('overwrite' as const), workspace, file, sizeBytes: fc.nat({ max: 60 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('quota' as const), workspace, quotaBytes: fc.nat({ max: 200 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      durationMs: fc.constantFrom(1000, 45_000, 130_000, 3_600_000, -5000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deliver' as const) }) },
)

const actions = fc.array(action, { minLength: 10, maxLength: 120, size: 'max' })

describe('random histories', () => {
  it(`keep the promises at every step, ${HISTORIES} of them`, { timeout: 3_600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 5 }), actions, async (documents, steps) => {
        const history = new History()
        await history.begin(documents)
        for (const each of steps) await history.act(each)
        await history.end()
      }),
      { numRuns: HISTORIES, ...SEED },
    )
  })
})
