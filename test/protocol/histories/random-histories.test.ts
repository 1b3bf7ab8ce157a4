/** Random moves in the explorer's world: everything at once, killed, late, repeated, with wrong clocks (docs/testing.md). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { casesOf } from '../../support/depth.ts'
import { replaceWaits } from '../../support/virtual-waits.ts'
import * as some from './history.ts'

replaceWaits()

const HISTORIES = casesOf('HISTORIES', 2500)
const AUDIT_HISTORIES = casesOf('AUDIT_HISTORIES', 250)
const SEED = process.env.HISTORY_SEED === undefined ? {} : { seed: Number(process.env.HISTORY_SEED) }
const HOUR_MS = 3_600_000

const everything = some.choicesOf(
  { min: 10, max: 120 },
  [40, some.calls(12, 5, some.ALL_FAULTS)],
  [8, some.promotions],
  [3, some.deletions(fc.boolean())],
  [3, some.lists],
  [2, some.downloads],
  [3, some.resolvers(some.WRONG)],
  [1, some.audits(some.WRONG)],
  [1, some.kills],
  [1, some.overwrites],
  [1, some.quotas],
  [3, some.waits(1000, 45_000, 130_000, HOUR_MS, -5000)],
  [1, some.arrivals],
)
const traffic = some.choicesOf(
  { min: 40, max: 300 },
  [60, some.calls(20, 1, ['fail_before', 'fail_after', 'late', 'repeated', 'refused', 'kill_after'])],
  [10, some.promotions],
  [5, some.deletions(fc.constant(true))],
  [4, some.audits(some.RIGHT)],
  [1, some.resolvers(some.RIGHT)],
  [1, some.drifts],
  [1, some.waits(1000, 130_000, -5000)],
)

describe('random histories', () => {
  it(`keep the promises at every step, ${HISTORIES} of them`, { timeout: HOUR_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 5 }), everything, async (documents, choices) => {
        await some.play(documents, choices)
      }),
      { numRuns: HISTORIES, ...SEED },
    )
  })

  it(`have audits that find drift exactly when there is some, and correct it once, in ${AUDIT_HISTORIES} of them`, {
    timeout: HOUR_MS,
  }, async () => {
    const seen = { ended: 0, amidChanges: 0, notAddedUp: 0 }
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), traffic, async (documents, choices) => {
        const { audits } = (await some.play(documents, choices)).stores.drifts
        for (const name of ['ended', 'amidChanges', 'notAddedUp'] as const) seen[name] += audits[name]
      }),
      { numRuns: AUDIT_HISTORIES, ...SEED },
    )
    expect(seen.amidChanges).toBeGreaterThan(seen.ended / 2)
    expect(seen.notAddedUp).toBeLessThan(seen.ended / 10)
  })
})
