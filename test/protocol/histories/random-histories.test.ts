/** Random moves in the explorer's world: everything at once, killed, late, repeated, with wrong clocks (docs/testing.md). */
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { MAX_REFUNDS } from '../../../lib/aws/dynamodb/ledger.ts'
import type { DeletedDocument, WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { assertProperty } from '../../support/assert-property.ts'
import { casesOf } from '../../support/depth.ts'
import { skipWaits } from '../../support/virtual-waits.ts'
import { FATES, type Fate } from '../explorer/process.ts'
import type { Request } from '../explorer/requests.ts'
import { WORKSPACE } from '../explorer/stores.ts'
import { type Circumstances, type Move, World } from '../explorer/world.ts'

skipWaits({ random: () => 1 })

const HISTORIES = casesOf('HISTORIES', 500)
const HOUR_MS = 3_600_000
/** Ten times as long as they take on a slow machine. */
const TIMEOUT_MS = 180_000 + HISTORIES * 300
const ALL_FAULTS = (Object.keys(FATES) as Fate[]).filter((fate) => fate !== 'ok')

/** Chooses the next move, of those that are possible then. */
type Choose = (world: World, are: Circumstances) => Move | undefined
type Choices = fc.Arbitrary<Choose>

const index = fc.nat({ max: 20 })
const file = fc.nat({ max: 2 })
const oneOf = <Element>(elements: readonly Element[], index: number) => elements[index % Math.max(1, elements.length)]
const is = <Name extends string>(name: Name) => fc.constant(name)

const begin = (request: Request, { processes }: World): Move => ({ do: 'begin', process: processes.size, request })
const beginning = (requests: fc.Arbitrary<Request>): Choices => requests.map((one) => (world) => begin(one, world))
const anyway = (moves: fc.Arbitrary<Move>): Choices => moves.map((move) => () => move)

/** So many calls are answered, and so many others end in one of these ways. */
const calls = (answered: number, others: number): Choices => {
  const fates = fc.constantFrom(
    ...Array<Fate>(answered * ALL_FAULTS.length).fill('ok'),
    ...Array(others).fill(ALL_FAULTS).flat(),
  )
  return fc.tuple(index, index, fates).map(([caller, call, fate]) => (world) => {
    const running = [...world.processes].filter(([, { isRunning }]) => isRunning)
    const [process = 0, { waiting = [] } = {}] = oneOf(running, caller) ?? []
    const each = oneOf(waiting, call)
    if (!each) return undefined
    const possible = world.isPossible(each, fate) ? fate : 'fail_before'
    return { do: 'call', process, call: waiting.indexOf(each), fate: possible }
  })
}

const key = fc.option(fc.nat({ max: 1 }), { nil: undefined })
const expiresInSeconds = fc.constantFrom(undefined, undefined, 30, 3600)
const promotions = beginning(fc.record({ do: is('promote'), file, key, expiresInSeconds }) as fc.Arbitrary<Request>)

/** The index is any document's, or a tombstone's. */
const deletions = index.map(
  (index): Choose =>
    (world) => {
      const isFound = ({ state }: { state: string }) => state !== 'pending' && state !== 'stray'
      const of = oneOf(world.stores.items().filter(isFound), index) as WorkspaceDocument | DeletedDocument | undefined
      return of && begin({ do: 'delete', of }, world)
    },
)

/** Where no lease is right, by a clock that may be ahead. */
const resolvers = fc.constantFrom(0, 0, 180_000, 1_800_000).map((aheadMs): Choose => {
  return (world, { areLeasesWrong }) => begin({ do: 'resolve', ...(areLeasesWrong && { aheadMs }) }, world)
})

/** A container's file becomes another. */
const overwrites = fc.tuple(file, fc.nat({ max: 60 })).map(([file, sizeBytes]): Choose => {
  return ({ stores, story }) => {
    const etag = `"${String(story.length).padStart(32, '0')}"`
    stores.files.set(`sandboxes/${WORKSPACE}/sess_1/file-${file}`, { sizeBytes, etag })
    story.push(`file-${file} is overwritten`)
    return undefined
  }
})

/** @param weights how often each is chosen */
const choices = (minLength: number, maxLength: number, ...weights: [weight: number, arbitrary: Choices][]) => {
  // The story tells what was chosen.
  const silent = (choose: Choose) => Object.assign(choose, { [fc.toStringMethod]: () => 'a move' })
  const choice = fc.oneof(...weights.map(([weight, arbitrary]) => ({ weight, arbitrary: arbitrary.map(silent) })))
  return fc.array(choice, { minLength, maxLength, size: 'max' })
}

const history = choices(
  10,
  150,
  [50, calls(12, 4)],
  [8, promotions],
  [4, deletions],
  [3, resolvers],
  [1, beginning(fc.constant({ do: 'clean' }))],
  [2, beginning(fc.constant({ do: 'audit' }))],
  [1, overwrites],
  [4, anyway(fc.record({ do: is('pass'), ms: fc.constantFrom(1000, 45_000, 60_000, 130_000, HOUR_MS) }))],
  [1, anyway(fc.constant({ do: 'arrive' }))],
)
const circumstances = fc.record({ quotaBytes: fc.constantFrom(25, 60, 1000), areLeasesWrong: fc.boolean() })

/** Where no lease is right, a change of an expiry takes no time: that none arrives after the end hangs on its lease. */
const changeOfExpiry: Choose = (world, { areLeasesWrong }) => {
  if (!areLeasesWrong) return undefined
  for (const [process, { isRunning, waiting }] of world.processes) {
    const call = waiting.findIndex(({ name }) => name === 'documents.setExpiry')
    if (isRunning && call >= 0) return { do: 'call', process, call, fate: 'ok' }
  }
  return undefined
}

/** How often each end of a process was seen. */
const seen = new Map<string, number>()

/** Makes this many documents; then what is chosen. @throws Error with all that happened */
async function play(documents: number, are: Circumstances, chosen: readonly Choose[]): Promise<void> {
  const world = World.create(are)
  try {
    for (let made = 0; made < documents; made++) await world.run(made, { do: 'promote', file: 0 })
    for (const choose of chosen) {
      const move = changeOfExpiry(world, are) ?? choose(world, are)
      if (move) await world.apply(move)
      world.check()
    }
    await world.rest()
  } catch (error) {
    throw new Error([JSON.stringify(are), ...world.story, error].join('\n'), { cause: error })
  }
  for (const { request, outcome } of world.processes.values()) {
    const end = outcome && ('value' in outcome ? 'ok' : (outcome.error as { reason: string }).reason)
    const told = `${request.do}: ${end ?? 'killed'}`
    seen.set(told, (seen.get(told) ?? 0) + 1)
  }
}

describe('random histories', () => {
  it(`keep the promises at every step, ${HISTORIES} of them`, { timeout: TIMEOUT_MS }, async () => {
    const property = fc.asyncProperty(fc.nat({ max: 4 }), circumstances, history, play)
    await assertProperty(property, { numRuns: HISTORIES })
    // They reach every end.
    const ends = [
      ...['ok', 'killed', 'storage_quota_exceeded', 'idempotency_key_spent', 'idempotency_key_reused'],
      ...['promotion_in_progress', 'container_file_changed', 'service_unavailable'],
    ]
    const others = ['delete: ok', 'delete: service_unavailable', 'resolve: ok', 'audit: ok', 'clean: ok']
    const wanted = [...ends.map((end) => `promote: ${end}`), ...others]
    if (HISTORIES >= 300) expect([...seen.keys()]).toEqual(expect.arrayContaining(wanted))
  })

  it('come to rest while dead deletions hold all places of a ledger', async () => {
    const world = World.create({})
    const apply = async (call: string, fate: Fate) => {
      await world.goOn(({ waiting }) => waiting[0]?.name === call)
      const [process = 0] = [...world.processes].find(([, { isRunning }]) => isRunning) ?? []
      await world.apply({ do: 'call', process, call: 0, fate })
    }
    await world.run(0, { do: 'promote', file: 0 })
    // Each deletion tries three times to write its refund, and the answers are lost.
    for (let tries = 0; tries < MAX_REFUNDS; tries++) {
      if (world.running.length === 0) await world.apply(begin({ do: 'delete' }, world))
      await apply('ledger.beginRefund', 'fail_after')
    }
    await world.goOn()
    await world.run(world.processes.size, { do: 'delete' })
    expect(world.stores.ledger()?.refunds).toHaveLength(MAX_REFUNDS)
    const { calls } = world.processes.get(world.processes.size - 1) ?? expect.fail()
    // In a second, of pauses of 33 ms at least.
    expect(calls.filter(({ name }) => name === 'ledger.beginRefund').length).toBeLessThan(40)
    await world.rest()
  })

  afterAll(() => console.log([...seen].map(([end, times]) => `${times} ${end}`).join('\n')))
})
