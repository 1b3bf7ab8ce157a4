import fc from 'fast-check'
import { FATES, type Fate } from '../explorer/process.ts'
import type { Request } from '../explorer/requests.ts'
import { FILES, WORKSPACES } from '../explorer/stores.ts'
import { MAX_LAG } from '../explorer/timeline.ts'
import { type Move, World } from '../explorer/world.ts'

/** Chooses the next move, of those that are possible then. */
export type Choice = (world: World) => Move | undefined
type Choices = fc.Arbitrary<Choice>

const index = fc.nat({ max: 20 })
const workspace = fc.nat({ max: WORKSPACES - 1 })
const file = fc.nat({ max: FILES - 1 })
const ofThese = <Element>(elements: readonly Element[], index: number) => elements[index % Math.max(1, elements.length)]

const begin = (request: Request, { processes }: World): Move => ({ do: 'begin', process: processes.size, request })
const beginning = (requests: fc.Arbitrary<Request>): Choices =>
  requests.map((request) => (world) => begin(request, world))
const kindOf = <Kind extends Request['do']>(kind: Kind) => fc.constant(kind)
const anyway = (moves: fc.Arbitrary<Move>): Choices => moves.map((move) => () => move)

/** By how much a process's clock is wrong: not at all, or so much that no lease is right. */
export const RIGHT = fc.constant(0)
export const WRONG = fc.constantFrom(0, 0, 180_000, 1_800_000)
export const ALL_FAULTS = (Object.keys(FATES) as Fate[]).filter((fate) => fate !== 'ok')

/** What becomes of a call: of so many that are answered, so many others end in one of these ways. */
export const calls = (answered: number, others: number, faults: readonly Fate[]): Choices => {
  const ok = fc.constant<Fate>('ok')
  const fates = fc.oneof({ weight: answered, arbitrary: ok }, { weight: others, arbitrary: fc.constantFrom(...faults) })
  return fc.tuple(index, index, fates).map(([caller, call, fate]) => (world) => {
    const process = ofThese(world.running, caller)
    const waiting = process && ofThese(process.waiting, call)
    if (!waiting) return undefined
    const possible = world.isPossible(process, waiting, fate) ? fate : 'fail_before'
    return { do: 'call', process: process.index, call: process.waiting.indexOf(waiting), fate: possible }
  })
}

export const kills: Choices = index.map((index) => ({ running }) => {
  const process = ofThese(running, index)
  return process && { do: 'kill', process: process.index }
})

export const promotions = beginning(
  fc.record({ do: kindOf('promote'), workspace, file, key: fc.option(fc.nat({ max: 1 }), { nil: undefined }) }),
)
export const resolvers = (aheadMs: fc.Arbitrary<number>) => beginning(fc.record({ do: kindOf('resolve'), aheadMs }))
export const audits = (aheadMs: fc.Arbitrary<number>) => beginning(fc.record({ do: kindOf('audit'), aheadMs }))
export const lists = beginning(
  fc.record({
    do: kindOf('list'),
    workspace,
    order: fc.constantFrom('asc', 'desc'),
    limit: fc.integer({ min: 1, max: 3 }),
    lags: fc.array(fc.nat({ max: MAX_LAG }), { minLength: 1, maxLength: 3 }),
  }),
)

/** Of any document there ever was, but more often of one that is still there. */
const ofDocuments = (what: 'delete' | 'download', byApi: fc.Arbitrary<boolean>): Choices =>
  fc.tuple(index, byApi).map(([index, byApi]) => (world) => {
    const { timeline, documents } = world.stores
    const document = ofThese(index % 3 === 0 ? timeline.all : [...documents.documents.values()], index)
    if (!document) return undefined
    const { workspaceId, documentId } = document
    return begin({ do: what, document: { workspaceId, documentId }, byApi }, world)
  })
export const deletions = (byApi: fc.Arbitrary<boolean>) => ofDocuments('delete', byApi)
export const downloads = ofDocuments('download', fc.constant(true))

export const overwrites = anyway(
  fc.record({ do: fc.constant('overwrite'), workspace, file, sizeBytes: fc.nat({ max: 60 }) }),
)
export const quotas = anyway(fc.record({ do: fc.constant('quota'), workspace, quotaBytes: fc.nat({ max: 200 }) }))
export const drifts = anyway(fc.record({ do: fc.constant('drift'), workspace, bytes: fc.constantFrom(7, -7, 40) }))
export const arrivals = anyway(fc.constant({ do: 'arrive' }))
export const waits = (...ms: number[]) => anyway(fc.record({ do: fc.constant('pass'), ms: fc.constantFrom(...ms) }))

/** @param weights how often each is chosen */
export const choicesOf = (lengths: { min: number; max: number }, ...weights: [weight: number, arbitrary: Choices][]) =>
  fc.array(fc.oneof(...weights.map(([weight, arbitrary]) => ({ weight, arbitrary }))), {
    minLength: lengths.min,
    maxLength: lengths.max,
    size: 'max',
  })

/**
 * Makes this many documents in each workspace, one a second; then what is chosen.
 * @throws Error with all that happened
 */
export async function play(documents: number, choices: readonly Choice[]): Promise<World> {
  const world = new World()
  const story: string[] = []
  try {
    for (let made = 0; made < documents; made++) {
      for (let workspace = 0; workspace < WORKSPACES; workspace++) {
        await world.apply(begin({ do: 'promote', workspace, file: 0 }, world))
      }
      await world.goOn()
      await world.apply({ do: 'pass', ms: 1000 })
    }
    for (const choose of choices) {
      const move = choose(world)
      if (!move) continue
      story.push(world.describe(move))
      await world.apply(move)
      world.check()
    }
    await world.rest()
    return world
  } catch (error) {
    throw new Error([`${documents} documents`, ...story, (error as Error).message].join('\n'), { cause: error })
  }
}
