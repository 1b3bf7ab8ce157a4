import { hash } from 'node:crypto'
import { hasExpired } from '../../../lib/ledger/expiry.ts'
import type { MarkedRelease } from '../../../lib/ledger/ports/reservations.ts'
import { LEASE_MS } from '../../support/ports.ts'
import type { Call, Fate, Process } from './process.ts'
import { holders } from './promises.ts'
import { type Bounds, KEYED, prepare, type Role, type Scenario, WORKSPACE } from './scenarios.ts'
import { type Move, READS, World } from './world.ts'

/** Longer than a process of a caller lives, shorter than a lease. */
const OLD_MS = 45_000
const EXPIRED_MS = LEASE_MS + 60_000

/** A read has no effect that could be lost, late or repeated. */
const FATES_OF_READS: readonly Fate[] = ['refused']
const FATES_OF_WRITES: readonly Fate[] = ['fail_before', 'fail_after', 'late', 'repeated', 'kill_after']
/** Only of a copy it matters whether S3 has answered. */
const FATES_OF_COPIES: readonly Fate[] = [...FATES_OF_WRITES, 'refused', 'refused_after']

/** A scenario's world, with all that may happen there within its bounds. Its processes are its roles, in their order. */
export class Schedule {
  readonly world: World
  readonly #scenario: Scenario
  readonly left: Bounds
  #current: number | undefined

  private constructor(scenario: Scenario) {
    this.world = new World(scenario)
    this.#scenario = scenario
    this.left = { ...scenario.bounds }
  }

  static async begin(scenario: Scenario): Promise<Schedule> {
    const schedule = new Schedule(scenario)
    const { world } = schedule
    await prepare(scenario, world)
    if (scenario.begun) {
      const [name, nth = 1] = scenario.begun
      let met = 0
      await schedule.apply(schedule.#beginning(0))
      await world.goOn(({ waiting }) => waiting[0]?.name === name && ++met === nth)
      // To leave it at once is not counted.
      schedule.#current = undefined
    }
    return schedule
  }

  /** All that may happen next, first what needs no bound. */
  moves(): Move[] {
    const moves: Move[] = []
    const { roles, before, areLeasesWrong } = this.#scenario
    const { processes } = this.world
    const mayLeave = !this.#isAmid || this.left.switches > 0
    const others = [...roles.keys()].filter((role) => role !== this.#current)
    for (const role of this.#current === undefined ? others : [this.#current, ...others]) {
      const process = processes.get(role)
      if (process === undefined) {
        if (mayLeave && this.#mayBegin(role)) moves.push(this.#beginning(role))
      } else if (process.isRunning && (role === this.#current || mayLeave)) {
        for (const [call, waiting] of process.waiting.entries()) {
          for (const fate of this.#fatesOf(process, waiting)) moves.push({ do: 'call', process: role, call, fate })
        }
      }
    }
    if (!mayLeave) return moves
    if (this.world.late.length > 0) moves.push({ do: 'arrive' })
    if (this.left.times > 0 && (processes.size > 0 || before)) {
      const isTwinToCome = roles.some((role, index) => role.do === 'promote' && !processes.has(index))
      if (before === 'tombstone' || (isTwinToCome && !areLeasesWrong)) moves.push({ do: 'pass', ms: OLD_MS })
      moves.push({ do: 'pass', ms: EXPIRED_MS })
    }
    return moves
  }

  /** Somebody is at work who could go on. */
  get #isAmid(): boolean {
    return this.#current !== undefined && this.world.processes.get(this.#current)?.isRunning === true
  }

  #beginning(process: number): Move {
    const role = this.#scenario.roles[process] as Role
    const { workspaceId, documentId } = this.world.stores.timeline.all.at(-1) ?? KEYED
    const document = { workspaceId, documentId }
    const isOfDocument = role.do === 'delete' || role.do === 'change_expiry'
    return { do: 'begin', process, request: isOfDocument ? { ...role, document } : role }
  }

  /** Whether it would find anything to do. Of those that do the same, the first begins first. */
  #mayBegin(index: number): boolean {
    const { roles } = this.#scenario
    const role = roles[index]
    const { ledger, timeline, nowMs } = this.world.stores
    if (roles.some((other, earlier) => earlier < index && other === role && !this.world.processes.has(earlier)))
      return false
    if (role?.do === 'delete')
      return timeline.all.length > 0 || roles.some((other) => other.do === 'promote' && other.key === 0)
    if (role?.do === 'change_expiry') return timeline.all.length > 0
    if (role?.do === 'expire') return timeline.all.some((each) => hasExpired(each, nowMs))
    const dueAtMs = ledger.workspaces.get(WORKSPACE)?.checkDueAtMs ?? Number.POSITIVE_INFINITY
    return role?.do !== 'resolve' || dueAtMs <= nowMs
  }

  #fatesOf(process: Process, call: Call): Fate[] {
    if (this.left.faults === 0) return ['ok']
    const isCopy = call.name === 'objects.copy'
    const faults = READS.test(call.name) ? FATES_OF_READS : isCopy ? FATES_OF_COPIES : FATES_OF_WRITES
    const { fates = faults } = this.#scenario
    return ['ok', ...faults.filter((fate) => fates.includes(fate) && this.world.isPossible(process, call, fate))]
  }

  async apply(move: Move): Promise<void> {
    const process = 'process' in move ? move.process : undefined
    if (this.#isAmid && process !== this.#current) this.left.switches--
    if (move.do === 'call' && move.fate !== 'ok') this.left.faults--
    if (move.do === 'pass') this.left.times--
    this.#current = process
    // Ids of documents differ from world to world.
    await this.world.apply(move.do === 'begin' ? this.#beginning(move.process) : move)
  }

  /** What is to come depends on this alone, and on what is left of the bounds. */
  key(): string {
    const { stores, processes, late } = this.world
    const { ledger, reservations, documents, objects, nowMs } = stores
    const workspaces = [...ledger.workspaces.values()].map(({ takings, releases, ...rest }) => {
      return [rest, [...takings.values()], [...releases.values()]]
    })
    const stored = [
      workspaces,
      [...reservations.items],
      [...documents.documents],
      [...documents.tombstones],
      [...documents.replaced],
    ]
    const sent = late.map(({ name, args }) => [name, args])
    const atWork = this.#scenario.roles.map((_, role) => keyOf(processes.get(role)))
    const current = this.#isAmid ? this.#current : undefined
    const all = [stored, [...objects.documents.keys()], sent, nowMs, atWork, current]
    return hash('sha1', this.#nameIds(JSON.stringify(all)))
  }

  /** Names ids by the order in which processes have sent them: so two schedules that lead to the same state lead to the same text. */
  #nameIds(text: string): string {
    const calls = this.#scenario.roles.flatMap((_, role) => this.world.processes.get(role)?.calls ?? [])
    const ids = calls.flatMap(({ args }) => {
      const { attemptId = '', releaseId = '' } = (args[0] ?? {}) as Partial<MarkedRelease>
      return [attemptId, releaseId]
    })
    return [...new Set(ids)].reduce((named, id, index) => (id ? named.replaceAll(id, `<${index}>`) : named), text)
  }

  /** @throws Error */
  check(): void {
    this.world.check()
    if (!this.#scenario.isResolverAlone) return
    for (const { request, waiting } of this.world.running) {
      const marks = request.do === 'resolve' ? waiting.filter(({ name }) => name === 'ledger.mark') : []
      const held = holders(WORKSPACE, this.world.stores)
      if (marks.some(({ args }) => !held.has((args[0] as MarkedRelease).attemptId)))
        throw new Error('the resolver undoes what it has just undone')
    }
  }
}

/** All that it has been answered, and waits for. Of those that have ended only their answers count. */
function keyOf(process: Process | undefined): unknown {
  if (process?.isRunning) {
    return [...process.calls, ...process.waiting].map(({ name, args, fate = '', result }) => {
      return [name, args, fate, /ok|repeated/.test(fate) ? result : undefined]
    })
  }
  const { outcome } = process ?? {}
  return outcome && 'error' in outcome ? process?.calls.find(({ name }) => name === 'documents.record')?.args : !process
}
