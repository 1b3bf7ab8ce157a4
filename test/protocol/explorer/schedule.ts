import { hash } from 'node:crypto'
import { ids } from './counted-ids.ts'
import type { Call, Fate, Process } from './process.ts'
import type { Request } from './requests.ts'
import { type Bounds, prepare, type Scenario } from './scenarios.ts'
import { LEASE_MS } from './stores.ts'
import { type Move, READS, World } from './world.ts'

/** Longer than a process of a caller lives, shorter than a lease. */
const OLD_MS = 45_000
const EXPIRED_MS = LEASE_MS + 60_000

/** A read has no effect that could be lost, late or repeated. */
const FATES_OF_READS: readonly Fate[] = ['refused']
const FATES_OF_WRITES: readonly Fate[] = [
  'fail_before',
  'fail_after',
  'again',
  'late',
  'repeated',
  'kill_late',
  'kill_after',
]
/** Only of a copy it matters whether S3 has answered. */
const FATES_OF_COPIES: readonly Fate[] = [...FATES_OF_WRITES, 'refused', 'refused_after']

/** A scenario's world, with all that may happen there within its bounds. Its processes are its roles, in their order. */
export class Schedule {
  readonly world: World
  readonly #scenario: Scenario
  readonly left: Bounds
  #current: number | undefined

  private constructor(scenario: Scenario, world: World) {
    this.world = world
    this.#scenario = scenario
    this.left = { ...scenario.bounds }
  }

  /** @returns begins the scenario, each time anew */
  static async prepare(scenario: Scenario): Promise<() => Promise<Schedule>> {
    ids.made = 0
    partsOfTexts.clear()
    const prepared = World.create(scenario)
    await prepare(scenario, prepared)
    const { made } = ids
    return async () => {
      ids.made = made
      const schedule = new Schedule(scenario, prepared.copy())
      if (scenario.begun) {
        await schedule.world.apply(schedule.#beginning(0))
        await schedule.world.goOn(({ waiting }) => waiting[0]?.name === scenario.begun)
      }
      return schedule
    }
  }

  /** All that may happen next, first what needs no bound. */
  moves(): Move[] {
    const moves: Move[] = []
    const { roles, areLeasesWrong } = this.#scenario
    const { processes } = this.world
    const mayLeave = !this.#isAmid || this.left.switches > 0
    const others = [...roles.keys()].filter((role) => role !== this.#current)
    for (const role of this.#current === undefined ? others : [this.#current, ...others]) {
      const process = processes.get(role)
      if (process === undefined) {
        if (mayLeave && this.#mayBegin(role)) moves.push(this.#beginning(role))
      } else if (process.isRunning && (role === this.#current || mayLeave)) {
        for (const [call, waiting] of process.waiting.entries()) {
          for (const fate of this.#fatesOf(waiting)) moves.push({ do: 'call', process: role, call, fate })
        }
      }
    }
    if (!mayLeave) return moves
    if (this.world.late.length > 0) moves.push({ do: 'arrive' })
    if (this.left.times > 0 && processes.size > 0) {
      const isTwinToCome = roles.some((role, index) => role.do === 'promote' && !processes.has(index))
      const usual = isTwinToCome || areLeasesWrong ? [OLD_MS, EXPIRED_MS] : [EXPIRED_MS]
      const { passes = usual } = this.#scenario
      moves.push(...passes.map((ms): Move => ({ do: 'pass', ms })))
    }
    return moves
  }

  /** Somebody is at work who could go on. */
  get #isAmid(): boolean {
    return this.#current !== undefined && this.world.processes.get(this.#current)?.isRunning === true
  }

  #beginning(process: number): Move {
    return { do: 'begin', process, request: this.#scenario.roles[process] as Request }
  }

  /** Whether it would find anything to do. Of those that do the same, the first begins first. */
  #mayBegin(index: number): boolean {
    const { roles } = this.#scenario
    const role = roles[index]
    const { stores } = this.world
    if (roles.some((other, earlier) => earlier < index && other === role && !this.world.processes.has(earlier)))
      return false
    if (role?.do === 'delete' || role?.do === 'change_expiry')
      return stores.items().some(({ state }) => state !== 'pending' && state !== 'stray')
    if (role?.do === 'clean') {
      const { holds = [], refunds = [] } = stores.ledger() ?? {}
      return holds.length + refunds.length > 0
    }
    if (role?.do === 'delete_workspace') return stores.ledger() !== undefined
    return role?.do !== 'resolve' || this.world.due(role.aheadMs).length > 0
  }

  #fatesOf(call: Call): Fate[] {
    if (this.left.faults === 0) return ['ok']
    const faults = READS.test(call.name)
      ? FATES_OF_READS
      : call.name === 'CopyObject'
        ? FATES_OF_COPIES
        : FATES_OF_WRITES
    const { fates = faults } = this.#scenario
    return ['ok', ...faults.filter((fate) => fates.includes(fate) && this.world.isPossible(call, fate))]
  }

  async apply(move: Move): Promise<void> {
    const process = 'process' in move ? move.process : undefined
    if (this.#isAmid && process !== this.#current) this.left.switches--
    if (move.do === 'call' && move.fate !== 'ok') this.left.faults--
    if (move.do === 'pass') this.left.times--
    this.#current = process
    await this.world.apply(move)
  }

  /** The future depends on this alone, and on what is left of the bounds. */
  key(): string {
    const { stores, processes, late } = this.world
    const sent = late.map(({ name, input }) => JSON.stringify([name, input]))
    const atWork = this.#scenario.roles.flatMap((_, role) => textsOf(processes.get(role)))
    const current = this.#isAmid ? this.#current : undefined
    return hash('sha1', nameIds([...stores.texts(), ...sent, ...atWork, `${current}`]))
  }
}

/** Base58 of 16 bytes: ids of documents without a key, of attempts and refunds. They differ from world to world. */
const ID = /([1-9A-HJ-NP-Za-km-z]{21,22})/
/** By text: what is between its ids, and the ids. Most texts are a part of many states. */
const partsOfTexts = new Map<string, string[]>()

/** Names ids by the order in which they occur: so two schedules that lead to the same state lead to the same text. */
function nameIds(texts: string[]): string {
  const names = new Map<string, string>()
  const nameOf = (id: string) => {
    const name = names.get(id) ?? `<${names.size}>`
    names.set(id, name)
    return name
  }
  return texts
    .flatMap((text) => {
      const parts = partsOfTexts.get(text) ?? text.split(ID)
      partsOfTexts.set(text, parts)
      return parts.map((part, index) => (index % 2 === 0 ? part : nameOf(part)))
    })
    .join('')
}

/** All that it has been answered, and waits for. */
function textsOf(process: Process | undefined): string[] {
  if (!process?.isRunning) return [process ? `ended ${process.isKilled}` : 'not begun']
  const calls = [...process.calls, ...process.waiting].map(({ name, input, fate = '', result }) =>
    JSON.stringify([name, input, fate, /ok|repeated/.test(fate) ? result : undefined]),
  )
  return [...calls, 'at work']
}
