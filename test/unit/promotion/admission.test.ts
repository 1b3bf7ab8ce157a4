import { describe, expect, it } from 'vitest'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { createAdmission } from '../../../lib/promotion/admission.ts'

const WORKSPACE = 'ws_1' as WorkspaceId
const OTHER = 'ws_2' as WorkspaceId
const HALF_LIFE_MS = 2500

/** An admission whose clock and random numbers the test sets. */
function setUp() {
  const world = { nowMs: 1_800_000_000_000, random: 0 }
  const admission = createAdmission({ now: () => world.nowMs, random: () => world.random })
  const note = (accepted: number, refused: number, workspaceId = WORKSPACE) => {
    for (let i = 0; i < accepted; i++) admission.count(workspaceId, true)
    for (let i = 0; i < refused; i++) admission.count(workspaceId, false)
  }
  /** The smallest of a thousand random numbers that is let in. */
  const refusalProbability = (workspaceId = WORKSPACE) => {
    for (let thousandths = 0; thousandths < 1000; thousandths++) {
      world.random = thousandths / 1000
      if (admission.decide(workspaceId) !== 'refuse') return thousandths / 1000
    }
    return 1
  }
  return { world, admission, note, refusalProbability }
}

describe('admission', () => {
  it.each([
    [100, 0],
    [50, 50],
    [50, 51],
  ])('is patient while %d are accepted and %d are not: it lets through twice what is accepted', (accepted, refused) => {
    const { world, admission, note } = setUp()
    note(accepted, refused)
    world.random = 0.01
    expect(admission.decide(WORKSPACE)).toBe('retry')
  })

  it.each([
    [0, 1, 0.5],
    [0, 9, 0.9],
    [10, 90, 80 / 101],
    [100, 200, 100 / 301],
  ])('refuses, of %d accepted and %d refused, as many as are too many', (accepted, refused, probability) => {
    const { note, refusalProbability } = setUp()
    note(accepted, refused)
    expect(refusalProbability()).toBeCloseTo(probability, 2)
  })

  it('gives one try to what it lets in while the ledger is hot', () => {
    const { world, admission, note } = setUp()
    note(40, 50)
    world.random = 0.999
    expect(admission.decide(WORKSPACE)).toBe('try_once')
    note(9, 0)
    expect(admission.decide(WORKSPACE)).toBe('retry')
  })

  it('forgets by half every two and a half seconds, all within a minute', () => {
    const { world, note, refusalProbability } = setUp()
    note(0, 8)
    expect(refusalProbability()).toBeCloseTo(8 / 9, 2)
    world.nowMs += HALF_LIFE_MS
    expect(refusalProbability()).toBeCloseTo(4 / 5, 2)
    world.nowMs += 2 * HALF_LIFE_MS
    expect(refusalProbability()).toBeCloseTo(1 / 2, 2)
    world.nowMs += 60_000 - 3 * HALF_LIFE_MS
    expect(refusalProbability()).toBe(0.001)
  })

  it('does not mind a clock that is set back', () => {
    const { world, note, refusalProbability } = setUp()
    note(0, 9)
    world.nowMs -= 60_000
    expect(refusalProbability()).toBeCloseTo(0.9, 2)
  })

  it('remembers a thousand workspaces, and forgets the one not heard of for longest', () => {
    const { admission, note } = setUp()
    const nth = (i: number) => `ws_${i}` as WorkspaceId
    for (let i = 0; i < 1000; i++) note(0, 9, nth(i))
    note(0, 1, nth(0))
    note(0, 9, nth(1000))
    const decisions = [0, 1, 2, 999, 1000].map((i) => admission.decide(nth(i)))
    expect(decisions).toEqual(['refuse', 'retry', 'refuse', 'refuse', 'refuse'])
  })

  it('raises Retry-After with the load, to some ten seconds, with jitter', () => {
    const { world, admission, note } = setUp()
    const seconds: number[] = []
    for (const refused of [0, 1, 3, 6, 90, 900]) {
      note(0, refused)
      seconds.push(admission.retryAfterSeconds(WORKSPACE))
    }
    expect(seconds).toEqual(seconds.toSorted((a, b) => a - b))
    expect([seconds[0], seconds.at(-1)]).toEqual([1, 10])
    world.random = 0.999
    expect(admission.retryAfterSeconds(WORKSPACE)).toBe(13)
    expect(admission.retryAfterSeconds(OTHER)).toBe(2)
  })
})
