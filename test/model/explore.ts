import { createCodec } from './codec.ts'
import { emptyWorld } from './empty-world.ts'
import {
  brokenOf,
  INVARIANTS,
  INVARIANTS_ALONE,
  INVARIANTS_AT_LAST,
  INVARIANTS_AT_REST,
  type InvariantName,
} from './invariants.ts'
import { createMoves } from './moves.ts'
import { createModel, type Protocol } from './protocol.ts'
import { StateStore } from './state-store.ts'
import { hasEnded } from './steps.ts'
import { entry, FORESTALLED, NO_NOTE, NOTE_OVER, type Setup, WAITING, type World } from './world.ts'

export interface Scenario {
  name: string
  setup: Setup
  /** In one run. */
  faults: number
  /** Changes the empty world into the one to begin with. */
  begin?(world: World): void
}

export interface Exploration {
  states: number
  /** Whether all states within the bounds were seen. */
  isComplete: boolean
  violation?: { invariant: InvariantName; trace: string[] }
}

/** Longer than the resolver ever needs. */
const MAX_MOVES_TO_REST = 300

/**
 * Goes through all states that the protocol can reach in the scenario, those with the fewest moves first, and stops at the
 * first that breaks an invariant: its trace is a shortest one.
 */
export function explore(protocol: Protocol, scenario: Scenario, maxStates = Number.POSITIVE_INFINITY): Exploration {
  const { setup } = scenario
  const model = createModel(protocol)
  const moves = createMoves(model)
  const world = emptyWorld(setup)
  world.faults = scenario.faults
  scenario.begin?.(world)
  const invariants = isAlone(setup) ? { ...INVARIANTS, ...INVARIANTS_ALONE } : INVARIANTS
  const codec = createCodec(world)
  const store = new StateStore(codec.length)
  codec.encode(world, store.next)
  store.addNext(0)

  for (let at = 0; at < store.count; at++) {
    if (store.count >= maxStates) return { states: store.count, isComplete: false }
    load(at)
    const invariant = brokenOf(world, model, invariants)
    if (invariant) return fail(invariant, at, [])
    const mayRest = isQuiet()
    const list = moves.list(world)
    for (const move of list) {
      // Also before the first: to list a move is to read, which changes what the process has seen.
      load(at)
      moves.apply(world, move)
      codec.encode(world, store.next)
      store.addNext(at)
    }
    if (mayRest) {
      load(at)
      const trace: string[] = []
      const broken = runToRest(trace)
      if (broken) return fail(broken, at, trace)
    }
  }
  return { states: store.count, isComplete: true }

  function load(at: number): void {
    codec.decode(store.bytesOf(at), store.offsetOf(at), world)
  }

  /** Whether nobody is at work, and nothing is left to come but the resolver. */
  function isQuiet(): boolean {
    return (
      world.late.length === 0 &&
      world.releases.every(({ attempt, isLeaseOver }) => attempt === 0 || isLeaseOver || setup.areLeasesWrong) &&
      world.processes.every((process, index) => {
        const { kind } = entry(world.setup.roles, index)
        return process.step === WAITING || (hasEnded(process) && (process.isLeaseOver || kind !== 'promotion'))
      })
    )
  }

  /** Runs the resolver, undisturbed. @param trace is told what it does */
  function runToRest(trace: string[]): InvariantName | undefined {
    const resolver = world.setup.roles.findIndex(({ kind }) => kind === 'resolver')
    if (resolver === -1) return undefined
    world.faults = 0
    let broken = moveToRest(resolver, trace) ?? brokenOf(world, model, INVARIANTS_AT_REST)
    if (broken) return broken
    world.isDue = true
    broken = moveToRest(resolver, trace)
    return broken ?? brokenOf(world, model, INVARIANTS_AT_LAST)
  }

  function moveToRest(resolver: number, trace: string[]): InvariantName | undefined {
    for (let count = 0; count < MAX_MOVES_TO_REST; count++) {
      for (const attempt of world.attempts) {
        if (attempt.lateCopy !== NO_NOTE) attempt.lateCopy = NOTE_OVER
        if (attempt.deletion !== NO_NOTE) attempt.deletion = NOTE_OVER
      }
      for (const { row } of world.places) row.isLeaseOver = row.purpose === FORESTALLED
      for (const marker of world.releases) marker.isLeaseOver = marker.attempt !== 0
      const [move] = moves.listOf(world, resolver)
      if (move === undefined) break
      trace.push(`at rest: ${moves.describe(world, move)}`)
      moves.apply(world, move)
    }
    return brokenOf(world, model, INVARIANTS)
  }

  function fail(invariant: InvariantName, at: number, then: string[]): Exploration {
    return { states: store.count, isComplete: false, violation: { invariant, trace: [...traceTo(at), ...then] } }
  }

  function traceTo(at: number): string[] {
    const trace: string[] = []
    for (let to = at; to !== 0; to = store.parentOf(to)) trace.unshift(moveBetween(store.parentOf(to), to))
    return trace
  }

  function moveBetween(from: number, to: number): string {
    load(from)
    for (const move of moves.list(world)) {
      load(from)
      const description = moves.describe(world, move)
      load(from)
      moves.apply(world, move)
      codec.encode(world, store.next)
      if (store.isNext(to)) return description
    }
    throw new Error('a state that no move leads to')
  }
}

function isAlone({ roles, areLeasesWrong }: Setup): boolean {
  const isPlain = roles[0]?.kind === 'promotion' && !roles[0].hasKey
  return roles.length === 2 && isPlain && roles[1]?.kind === 'resolver' && !areLeasesWrong
}
