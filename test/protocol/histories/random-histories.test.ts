/** Random moves in the explorer's world: everything at once, killed, late, repeated, with wrong clocks (docs/testing.md). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { casesOf } from '../../support/depth.ts'
import { replaceWaits } from '../../support/virtual-waits.ts'
import { FATES, type Fate } from '../explorer/process.ts'
import type { Request } from '../explorer/requests.ts'
import { FILES, WORKSPACES } from '../explorer/stores.ts'
import { MAX_LAG } from '../explorer/timeline.ts'
import { type Move, World } from '../explorer/world.ts'

replaceWaits()

const HISTORIES = casesOf('HISTORIES', 2500)
const AUDIT_HISTORIES = casesOf('AUDIT_HISTORIES', 250)
const SEED = process.env.HISTORY_SEED === undefined ? {} : { seed: Number(process.env.HISTORY_SEED) }
const HOUR_MS = 3_600_000

/** Chooses the next move, of those that are possible then. */
type Choose = (world: World) => Move | undefined
type Choices = fc.Arbitrary<Choose>

const index = fc.nat({ max: 20 })
const workspace = fc.nat({ max: WORKSPACES - 1 })
const file = fc.nat({ max: FILES - 1 })
const oneOf = <Element>(elements: readonly Element[], index: number) => elements[index % Math.max(1, elements.length)]
const is = <Name extends string>(name: Name) => fc.constant(name)

const begin = (request: Request, { processes }: World): Move => ({ do: 'begin', process: processes.size, request })
const beginning = (requests: fc.Arbitrary<Request>): Choices => requests.map((one) => (world) => begin(one, world))
const anyway = (moves: fc.Arbitrary<Move>): Choices => moves.map((move) => () => move)

/** So many calls are answered, and so many others end in one of these ways. */
const calls = (answered: number, others: number, faults: readonly Fate[]): Choices => {
  const fates = fc.constantFrom(
    ...Array<Fate>(answered * faults.length).fill('ok'),
    ...Array(others).fill(faults).flat(),
  )
  return fc.tuple(index, index, fates).map(([caller, call, fate]) => (world) => {
    const process = oneOf(world.running, caller)
    const waiting = process && oneOf(process.waiting, call)
    if (!waiting) return undefined
    const possible = world.isPossible(process, waiting, fate) ? fate : 'fail_before'
    return { do: 'call', process: process.index, call: process.waiting.indexOf(waiting), fate: possible }
  })
}

const key = fc.option(fc.nat({ max: 1 }), { nil: undefined })
const promotionsUntil = (...seconds: (number | undefined)[]) => {
  const expiresInSeconds = fc.constantFrom(...seconds)
  return beginning(fc.record({ do: is('promote'), workspace, file, key, expiresInSeconds }))
}
const expiries = beginning(
  fc.record({ do: is('expire'), aheadMs: fc.constantFrom(0, 0, 60_000, -60_000), lag: fc.constantFrom(0, 3, 50) }),
)
const lists = beginning(
  fc.record({
    do: is('list'),
    workspace,
    order: fc.constantFrom('asc', 'desc'),
    limit: fc.integer({ min: 1, max: 3 }),
    lags: fc.array(fc.nat({ max: MAX_LAG }), { minLength: 1, maxLength: 3 }),
  }),
)
/** @param aheadMs by how much the process's clock is wrong */
const maintenance = (kind: 'resolve' | 'audit', ...aheadMs: number[]) =>
  beginning(fc.record({ do: is(kind), aheadMs: fc.constantFrom(...aheadMs) }))

/** Of any document there ever was, but more often of one that is still there. */
const ofDocuments = (kind: 'delete' | 'download', ...byApi: boolean[]): Choices =>
  fc.tuple(index, fc.constantFrom(...byApi)).map(([index, byApi]) => (world) => {
    const { timeline, documents } = world.stores
    const document = oneOf(index % 3 === 0 ? timeline.all : [...documents.documents.values()], index)
    if (!document) return undefined
    const { workspaceId, documentId } = document
    return begin({ do: kind, document: { workspaceId, documentId }, byApi }, world)
  })

/** Of one that is still there, to a time that is almost over or far away, or to none. */
const changesOfExpiry = fc
  .tuple(index, fc.constantFrom(0, 60_000, -60_000), fc.constantFrom(undefined, 5, 7200))
  .map(([index, aheadMs, seconds]): Choose => {
    return (world) => {
      const document = oneOf([...world.stores.documents.documents.values()], index)
      return document && begin({ do: 'change_expiry', document, aheadMs, seconds }, world)
    }
  })

const passing = (...ms: number[]) => anyway(fc.record({ do: is('pass'), ms: fc.constantFrom(...ms) }))
const overwrites = anyway(fc.record({ do: is('overwrite'), workspace, file, sizeBytes: fc.nat({ max: 60 }) }))
const quotas = anyway(fc.record({ do: is('quota'), workspace, quotaBytes: fc.nat({ max: 200 }) }))
const drifts = anyway(fc.record({ do: is('drift'), workspace, bytes: fc.constantFrom(7, -7, 40) }))

/** @param weights how often each is chosen */
const choices = (minLength: number, maxLength: number, ...weights: [weight: number, arbitrary: Choices][]) => {
  // The story tells what was chosen.
  const silent = (choose: Choose) => Object.assign(choose, { [fc.toStringMethod]: () => 'a move' })
  const choice = fc.oneof(...weights.map(([weight, arbitrary]) => ({ weight, arbitrary: arbitrary.map(silent) })))
  return fc.array(choice, { minLength, maxLength, size: 'max' })
}

/** Of a process's clock: often right, or so wrong that no lease is right. */
const AHEAD_MS = [0, 0, 180_000, 1_800_000]
const ALL_FAULTS = (Object.keys(FATES) as Fate[]).filter((fate) => fate !== 'ok')
const everything = choices(
  10,
  120,
  [40, calls(12, 5, ALL_FAULTS)],
  [8, promotionsUntil(undefined, undefined, 30, 3600)],
  [3, expiries],
  [2, changesOfExpiry],
  [3, ofDocuments('delete', true, false)],
  [3, lists],
  [2, ofDocuments('download', true)],
  [3, maintenance('resolve', ...AHEAD_MS)],
  [1, maintenance('audit', ...AHEAD_MS)],
  [1, overwrites],
  [1, quotas],
  [4, passing(1000, 45_000, 60_000, 130_000, HOUR_MS, -5000, -60_000)],
  [1, anyway(fc.constant({ do: 'arrive' }))],
)
const traffic = choices(
  40,
  300,
  [60, calls(20, 1, ['fail_before', 'fail_after', 'late', 'repeated', 'refused', 'kill_after'])],
  [10, promotionsUntil(undefined)],
  [5, ofDocuments('delete', true)],
  [4, maintenance('audit', 0)],
  [1, maintenance('resolve', 0)],
  [1, drifts],
  [1, passing(1000, 130_000, -5000)],
)

/** Makes this many documents in each workspace, one a second; then what is chosen. @throws Error with all that happened */
async function play(documents: number, chosen: readonly Choose[]): Promise<World> {
  const world = new World()
  try {
    for (let made = 0; made < documents; made++) {
      for (const workspace of [0, 1]) await world.apply(begin({ do: 'promote', workspace, file: 0 }, world))
      await world.goOn()
      await world.apply({ do: 'pass', ms: 1000 })
    }
    for (const choose of chosen) {
      const move = choose(world)
      if (move) await world.apply(move)
      world.check()
    }
    await world.rest()
    return world
  } catch (error) {
    throw new Error([...world.story, error].join('\n'), { cause: error })
  }
}

describe('random histories', () => {
  it(`keep the promises at every step, ${HISTORIES} of them`, { timeout: HOUR_MS }, async () => {
    const property = fc.asyncProperty(
      fc.nat({ max: 5 }),
      everything,
      async (...history) => void (await play(...history)),
    )
    await fc.assert(property, { numRuns: HISTORIES, ...SEED })
  })

  it(`have audits that find drift exactly when there is some, and correct it once, in ${AUDIT_HISTORIES} of them`, {
    timeout: HOUR_MS,
  }, async () => {
    const seen = { ended: 0, amidChanges: 0, notAddedUp: 0 }
    const property = fc.asyncProperty(fc.integer({ min: 1, max: 4 }), traffic, async (...history) => {
      const { audits } = (await play(...history)).stores.drifts
      for (const name of ['ended', 'amidChanges', 'notAddedUp'] as const) seen[name] += audits[name]
    })
    await fc.assert(property, { numRuns: AUDIT_HISTORIES, ...SEED })
    expect(seen.amidChanges).toBeGreaterThan(seen.ended / 2)
    expect(seen.notAddedUp).toBeLessThan(seen.ended / 10)
  })
})
