import { audit } from '../../../lib/audit/audit.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
import type { MarkedRelease } from '../../../lib/ledger/ports/reservations.ts'
import { resolveExpiredReservations } from '../../../lib/ledger/resolve-expired-reservations.ts'
import { Answers } from '../histories/answers.ts'
import { Drifts } from '../histories/drifts.ts'
import { checkBytes, checkCalls, checkRest, expectEqual, holders } from '../histories/invariants.ts'
import type { Fate, PendingCall, Process } from '../histories/process.ts'
import { Processes, READS } from '../histories/processes.ts'
import { LEASE_MS, Stores } from '../histories/stores.ts'
import { Canonical, hashOf } from './canonical.ts'
import { goOn, mayBegin, nameOf, prepare, WORKSPACE, workOf } from './roles.ts'
import type { Bounds, Role, Scenario } from './scenarios.ts'

export type Move =
  | { do: 'call'; role: number; call: number; fate: Fate }
  | { do: 'begin'; role: number }
  | { do: 'arrive' }
  | { do: 'age' }
  | { do: 'expire' }

const HOUR_MS = 3_600_000
/** Longer than a process of a caller lives, shorter than a lease. */
const OLD_MS = 45_000
const EXPIRED_MS = LEASE_MS + 60_000
const { signal } = new AbortController()

/** A read has no effect that could be lost, late or repeated. */
const FATES_OF_READS: readonly Fate[] = ['refused']
const FATES_OF_WRITES: readonly Fate[] = ['fail_before', 'fail_after', 'late', 'repeated', 'kill_after']
/** Only of a copy it matters whether S3 has answered. */
const FATES_OF_COPIES: readonly Fate[] = [...FATES_OF_WRITES, 'refused', 'refused_after']

/** The code under test on stores in memory, moved on one step at a time. */
export class World {
  readonly #scenario: Scenario
  readonly stores: Stores
  readonly #processes: Processes
  readonly #answers: Answers
  readonly #drifts: Drifts
  readonly #canonical = new Canonical()
  readonly #byRole: (Process | undefined)[]
  /** Of what each process has been answered so far. */
  seen: string[]
  readonly #counted: number[]
  readonly left: Bounds
  #current: number | undefined

  private constructor(scenario: Scenario) {
    this.#scenario = scenario
    this.stores = new Stores(scenario)
    this.#processes = new Processes(this.stores)
    this.#answers = new Answers(this.stores)
    this.#drifts = new Drifts(this.stores.ledger)
    this.left = { ...scenario.bounds }
    this.#byRole = scenario.roles.map(() => undefined)
    this.seen = scenario.roles.map(() => '')
    this.#counted = scenario.roles.map(() => 0)
  }

  static async begin(scenario: Scenario): Promise<World> {
    const world = new World(scenario)
    await prepare(scenario, world.stores, world.#processes, world.#drifts)
    if (scenario.begun !== undefined) {
      world.#begin(0)
      await goOn(world.#byRole[0] as Process, world.stores, world.#processes, ...scenario.begun)
      world.#look()
    }
    return world
  }

  /** All that may happen next, first what needs no bound. */
  moves(): Move[] {
    const moves: Move[] = []
    const { roles } = this.#scenario
    const mayLeave = !this.#isAmid || this.left.switches > 0
    const order = [...roles.keys()].sort(
      (one, other) => Number(other === this.#current) - Number(one === this.#current),
    )
    for (const role of order) {
      const process = this.#byRole[role]
      if (process === undefined) {
        if (mayLeave && this.#mayBegin(role)) moves.push({ do: 'begin', role })
      } else if (process.isRunning && (role === this.#current || mayLeave)) {
        for (const [call, pending] of process.waiting.entries()) {
          for (const fate of this.#fatesOf(process, pending)) moves.push({ do: 'call', role, call, fate })
        }
      }
    }
    if (!mayLeave) return moves
    if (this.#processes.underWay.length > 0) moves.push({ do: 'arrive' })
    if (this.left.times > 0 && (this.#processes.all.length > 0 || this.#scenario.before)) {
      const { before, areLeasesWrong } = this.#scenario
      const isTwinToCome = roles.some((role, index) => role.kind === 'promote' && !this.#byRole[index])
      if (before === 'tombstone' || (isTwinToCome && !areLeasesWrong)) moves.push({ do: 'age' })
      moves.push({ do: 'expire' })
    }
    return moves
  }

  /** Somebody is at work who could go on. */
  get #isAmid(): boolean {
    return this.#current !== undefined && this.#byRole[this.#current]?.isRunning === true
  }

  /** Of those that do the same, the first begins first. */
  #mayBegin(role: number): boolean {
    const { roles } = this.#scenario
    const isTwin = (other: number) =>
      !this.#byRole[other] && JSON.stringify(roles[other]) === JSON.stringify(roles[role])
    return mayBegin(role, roles, this.stores) && ![...roles.keys()].some((other) => other < role && isTwin(other))
  }

  #fatesOf(process: Process, call: PendingCall): Fate[] {
    if (this.left.faults === 0) return ['ok']
    const isCopy = call.name === 'objects.copy'
    const faults = READS.test(call.name) ? FATES_OF_READS : isCopy ? FATES_OF_COPIES : FATES_OF_WRITES
    const { fates = faults } = this.#scenario
    const isPossible = (fate: Fate) => fates.includes(fate) && this.#processes.isPossible(process, call, fate)
    return ['ok', ...faults.filter(isPossible)]
  }

  /** @param seen of a step that is made again: what `seen` was after it */
  async apply(move: Move, seen?: string[]): Promise<void> {
    this.#pay(move)
    switch (move.do) {
      case 'call':
        this.#current = move.role
        this.#byRole[move.role]?.waiting[move.call]?.decide(move.fate)
        break
      case 'begin':
        this.#current = move.role
        this.#begin(move.role)
        break
      case 'arrive':
        this.#current = undefined
        await this.#processes.deliver()
        break
      case 'age':
        this.#current = undefined
        this.stores.nowMs += OLD_MS
        this.#processes.endFunctions()
        break
      case 'expire':
        this.#current = undefined
        if (!this.#scenario.areLeasesWrong) await this.#processes.deliver(true)
        this.stores.nowMs += EXPIRED_MS
        if (!this.#scenario.areLeasesWrong) this.#processes.endFunctions()
        break
    }
    this.stores.observe()
    await this.#processes.settle()
    this.#look(seen)
  }

  #begin(index: number): void {
    const { roles } = this.#scenario
    const role = roles[index] as Role
    const process = this.#processes.start(nameOf(index, roles), workOf(role, this.stores, this.#drifts))
    this.#byRole[index] = process
    if (role.kind === 'delete') this.#answers.wasDeleted = true
    if (role.kind === 'promote' && role.key !== undefined) this.#answers.expectOneDocument(process, `${role.key}`)
  }

  #pay(move: Move): void {
    const goesOn = (move.do === 'call' || move.do === 'begin') && move.role === this.#current
    if (this.#isAmid && !goesOn) this.left.switches--
    if (move.do === 'call' && move.fate !== 'ok') this.left.faults--
    if (move.do === 'age' || move.do === 'expire') this.left.times--
  }

  /** Takes note of what the processes have been answered. */
  #look(known?: string[]): void {
    const seen = known ?? [...this.seen]
    for (const [role, process] of this.#byRole.entries()) {
      const counted = this.#counted[role] ?? 0
      if (process === undefined || process.calls.length === counted) continue
      for (const { name, fate, args, result } of process.calls.slice(counted)) {
        this.#canonical.introduce(args[0], role)
        if (known) continue
        const isAnswered = fate === 'ok' || fate === 'repeated'
        seen[role] = hashOf(`${seen[role]} ${name} ${fate} ${this.#canonical.text([args, isAnswered && result])}`)
      }
      this.#counted[role] = process.calls.length
    }
    this.seen = seen
  }

  /** What is to come depends on this alone, and on what is left of the bounds. */
  key(): string {
    const { ledger, reservations, documents, objects, nowMs } = this.stores
    const workspaces = [...ledger.workspaces.values()].map(({ takings, releases, ...rest }) => {
      return [rest, [...takings.values()], [...releases.values()]]
    })
    const stored = [workspaces, [...reservations.items], [...documents.documents], [...documents.tombstones]]
    const processes = this.#byRole.map(keyOf)
    const late = this.#processes.underWay.map(({ name, args }) => [name, args])
    const current = this.#isAmid ? this.#current : undefined
    const text = this.#canonical.text([stored, [...objects.documents.keys()], late, nowMs, processes, current])
    return hashOf(`${text} ${this.seen.filter((_, role) => this.#byRole[role]?.isRunning)}`)
  }

  describe(move: Move): string {
    if (move.do === 'begin') return `${nameOf(move.role, this.#scenario.roles)} begins`
    if (move.do === 'arrive') return 'what was sent late arrives'
    if (move.do === 'age') return '45 s pass: processes of callers are dead'
    if (move.do === 'expire') return this.#scenario.areLeasesWrong ? 'leases are taken for over' : 'leases run out'
    const { name } = this.#byRole[move.role]?.waiting[move.call] ?? {}
    return `${nameOf(move.role, this.#scenario.roles)}: ${name} ${TOLD[move.fate]}`
  }

  /** What is true at every moment. @throws Error */
  check(): void {
    const { stores } = this
    checkBytes(stores, this.#drifts, () => this.#drifts.wasPlanted)
    for (const process of this.#processes.all) {
      this.#answers.check(process)
      checkCalls(process, stores)
    }
    const takings = stores.ledger.workspaces.get(WORKSPACE)?.takings.size ?? 0
    if (takings > (this.#scenario.maxTakings ?? takings)) throw new Error('more takings than there is room for')
    if (this.#drifts.failure) throw new Error(this.#drifts.failure)
    if (this.#scenario.isResolverAlone) this.#checkNeeded()
  }

  #checkNeeded(): void {
    for (const { name, waiting } of this.#processes.running) {
      for (const call of waiting) {
        if (call.name !== 'ledger.mark' || !name.startsWith('resolver')) continue
        const { attemptId } = call.args[0] as MarkedRelease
        if (!holders(WORKSPACE, this.stores).has(attemptId))
          throw new Error('the resolver undoes what it has just undone')
      }
    }
  }

  /** Lets everything come to rest, undisturbed. @throws Error when something is left over or counted wrongly */
  async rest(): Promise<void> {
    const { stores } = this
    await this.#processes.deliver()
    stores.observe()
    this.check()
    for (const run of [1, 2, 3]) {
      stores.nowMs += HOUR_MS
      await resolveExpiredReservations({ maxResolutions: 1000 }, stores.dependencies(), signal)
      stores.observe()
      this.check()
      if (run === 2) continue
      const mayRemain = ({ kind, isRepaired }: Finding) =>
        this.#scenario.areLeasesWrong && isRepaired && /^(expired_reservation|object_without_document)$/.test(kind)
      const drifts = this.#drifts.found()
      const found = (await this.#audit(true)).filter((finding) => !mayRemain(finding))
      expectEqual(found, drifts, `the audit finds what was planted after run ${run} of the resolver`)
    }
    expectEqual(await this.#audit(false), [], 'the audit finds nothing more')
    checkRest(stores)
  }

  async #audit(repair: boolean): Promise<Finding[]> {
    const findings: Finding[] = []
    const onFinding = (finding: Finding) => findings.push(finding)
    await audit({ repair, deleteLostDocuments: repair, onFinding }, this.stores.dependencies(), signal)
    return findings
  }
}

function keyOf(process: Process | undefined): unknown {
  if (process?.isRunning) return process.waiting.map(({ name, args }) => [name, args])
  // Of those that have ended only their answers count.
  const { outcome } = process ?? {}
  return outcome && 'error' in outcome ? process?.calls.find(({ name }) => name === 'documents.record')?.args : !process
}

const TOLD: Record<Fate, string> = {
  ok: 'is answered',
  fail_before: 'is lost',
  fail_after: 'is applied, and its answer lost',
  kill_before: 'is never sent: the process is killed',
  kill_after: 'is applied, and the process killed',
  late: 'is given up, and arrives later',
  repeated: 'is answered, and arrives once more later',
  refused: 'is answered with an error',
  refused_after: 'is applied, and answered with an error',
}
