import { describe, expect, it } from 'vitest'
import { isShallow } from '../support/depth.ts'
import { interruptedAt } from '../support/interrupted.ts'
import { endSliceAtOnce, planted, playRoundOf, sumOf } from '../support/maintenance/audit-rounds.ts'

/** The step from one call at which a process dies to the next. */
const STRIDE = isShallow() ? 10 : 1

describe('a round of the audit, one of whose processes dies in any one call', () => {
  it.each([
    ['slices that go on to the end', () => false],
    ['slices of one step', endSliceAtOnce],
  ])('finds the same as undisturbed, with %s', { timeout: 120_000 }, async (_, isOver) => {
    const { deps, published } = await planted(8, 2)
    const whole = await playRoundOf(deps)
    const told = sumOf(published.splice(0), 'AuditFindings')
    let deaths = 0
    for (let at = 0, isReached = true; isReached; at += STRIDE) {
      let calls = 0
      let hasDied = false
      isReached = false
      const round = await playRoundOf(deps, {
        isOver,
        async invoke(_task, perform) {
          const dying = interruptedAt(at - calls, deps, async () => {
            isReached = true
            throw Object.assign(new Error('Killed'), { name: 'Killed' })
          })
          const answer = await perform(dying.deps).catch(() => undefined)
          calls += dying.calls()
          // What a killed process would still have answered, nobody learns; nor does it publish anything.
          if (isReached && calls > at && !hasDied) {
            hasDied = true
            deaths++
            published.splice(0)
            throw Object.assign(new Error('Sandbox.Timedout'), { name: 'Sandbox.Timedout' })
          }
          return answer
        },
      })
      expect([at, round.ids]).toEqual([at, whole.ids])
      expect([at, round.report]).toMatchObject([at, { ...whole.report, durationMs: expect.any(Number) }])
      published.splice(0)
    }
    expect(deaths).toBeGreaterThan(60 / STRIDE)
    expect(told).toBe(whole.findings.length)
  })
})
