import { clearWork, NO_CUT } from './empty-world.ts'
import { FATES, type Fate } from './fates.ts'
import { afterCopy, LANES } from './promotion.ts'
import type { Model, ModelStep } from './protocol.ts'
import { isReader } from './resolver.ts'
import type { Choice } from './steps.ts'
import { type Call, entry, MAX_LATE, MAX_RELEASES, PENDING, WAITING, type World } from './world.ts'
import { WRITE_NAMES } from './writes.ts'

/** What one process may do next, or what may happen to it. */
export interface ProcessMove {
  index: number
  /** A step of the model, the process's own or one beside it; -1: it is killed. */
  step: number
  /** Which choice of a read, which fate of a write. */
  choice: number
}

const KILLED = -1
/** Somebody builds on knowing that these were certainly not applied. */
const MAY_BE_REFUSED: ReadonlySet<string> = new Set(['copy', 'open', 'openClaimed'])
const COPY = WRITE_NAMES.indexOf('copy')

export function createProcessMoves(model: Model) {
  const starts = {
    promotion: model.indexOf('promotion.start'),
    deletion: model.indexOf('deletion.start'),
    resolver: model.indexOf('resolver.start'),
    audit: model.indexOf('audit.start'),
  }
  const copying = model.indexOf('promotion.copying')
  const lanes = LANES.map(({ step, field, during }) => ({
    step: model.indexOf(step),
    field,
    during: new Set(during.map(model.indexOf)),
  }))
  const fatesOf = model.writes.map(({ sent, name }) =>
    FATES.flatMap((fate, choice) =>
      fate.sent.includes(sent) || (fate.outcome === 'refused' && MAY_BE_REFUSED.has(name)) ? [choice] : [],
    ),
  )

  function nextStep(world: World, index: number): number {
    const { step } = entry(world.processes, index)
    return step === WAITING ? starts[entry(world.setup.roles, index).kind] : step
  }

  function list(world: World, index: number, moves: object[]): void {
    const process = entry(world.processes, index)
    const { kind } = entry(world.setup.roles, index)
    if (process.step === WAITING && kind === 'resolver' && !world.isDue) return
    const step = nextStep(world, index)
    if (entry(model.steps, step).isEnd) return
    listStep(world, index, step, moves)
    if (kind === 'promotion') {
      for (const { step: lane, field, during } of lanes)
        if (during.has(process.step) && process[field] === PENDING) listStep(world, index, lane, moves)
    }
    if (world.faults > 0 && process.step !== WAITING) moves.push({ index, step: KILLED, choice: 0 })
  }

  function listStep(world: World, index: number, step: number, moves: object[]): void {
    const { write, read } = entry(model.steps, step)
    if (write === -1) {
      const { length } = read(world, entry(world.processes, index), index)
      for (let choice = 0; choice < length; choice++) moves.push({ index, step, choice })
      return
    }
    for (const choice of entry(fatesOf, write)) {
      if (choice > 0 && world.faults === 0) return
      if (entry(FATES, choice).isLate && world.late.length === MAX_LATE) continue
      moves.push({ index, step, choice })
    }
  }

  function apply(world: World, { index, step, choice }: ProcessMove): void {
    if (step === KILLED) {
      world.faults--
      kill(world, index)
      return
    }
    const modelStep = entry(model.steps, step)
    if (modelStep.write === -1) goOn(world, index, modelStep, choice)
    else send(world, index, modelStep, entry(FATES, choice))
  }

  function goOn(world: World, index: number, step: ModelStep, choice: number): void {
    const process = entry(world.processes, index)
    const { next, about, release } = entry<Choice>(step.read(world, process, index), choice)
    // With something to do at hand, what else was seen does not matter any more.
    if (about !== undefined)
      Object.assign(process, { about, release: release ?? 0, seenAttempts: 0, hasChanged: false })
    moveTo(world, index, model.go(next, world, process, index))
  }

  function send(world: World, index: number, step: ModelStep, fate: Fate): void {
    const process = entry(world.processes, index)
    if (fate !== FATES[0]) world.faults--
    const call = callOf(world, index, step)
    if (fate.isLate) world.late.push(call)
    const answer = fate.isApplied ? write(world, call) : 'refused'
    if (fate.outcome === 'killed') {
      kill(world, index)
      return
    }
    if (fate.outcome === 'sentAgain') {
      if (entry(model.writes, call.write).sent === 'afresh') process.release = 0
      return
    }
    const go = step.on[fate.outcome === 'failed' ? 'failed' : answer]
    if (go === undefined) throw new Error(`${step.name}: no way on from "${answer}"`)
    const next = go(world, process, index)
    if (!step.name.startsWith('lane.')) moveTo(world, index, next)
    else if (call.write === COPY && process.step === copying) moveTo(world, index, model.indexOf(afterCopy(process)))
  }

  function callOf(world: World, index: number, { write: name, inRelease }: ModelStep): Call {
    const process = entry(world.processes, index)
    if (inRelease && process.release === 0) process.release = freshRelease(world)
    return { write: name, sender: index, attempt: process.about, release: inRelease ? process.release : 0 }
  }

  /** A release id that nobody knows (any more) is as good as a new one. */
  function freshRelease(world: World): number {
    for (let release = 1; release <= MAX_RELEASES; release++) {
      const isKnown =
        entry(world.releases, release).attempt !== 0 ||
        world.processes.some((process) => process.release === release || process.seenReleases & (1 << release)) ||
        world.places.some(({ row, document }) => row.closedBy === release || document.closedBy === release) ||
        world.late.some((call) => call.release === release) ||
        world.cut.doubts & (1 << release)
      if (!isKnown) return release
    }
    throw new Error('MAX_RELEASES is too low for these bounds')
  }

  /** @returns the answer */
  function write(world: World, call: Call): string {
    const { holds, refused, effect, applied, isOfCounter } = entry(model.writes, call.write)
    if (!holds(world, call)) return typeof refused === 'string' ? refused : refused(world, call)
    effect(world, call)
    if (isOfCounter) {
      for (let index = 0; index < world.processes.length; index++)
        if (isReader(world, index)) entry(world.processes, index).hasChanged = true
    }
    return applied
  }

  function kill(world: World, index: number): void {
    const end = { promotion: 'dead', deletion: 'ended', resolver: 'waiting', audit: 'waiting' } as const
    moveTo(world, index, model.indexOf(end[entry(world.setup.roles, index).kind]))
  }

  function moveTo(world: World, index: number, step: number): void {
    const process = entry(world.processes, index)
    process.step = step
    if (!entry(model.steps, step).isEnd) return
    clearWork(process)
    if (entry(world.setup.roles, index).kind === 'audit') Object.assign(world.cut, NO_CUT)
    if (step === WAITING) for (const { document } of world.places) document.contemporaries &= ~(1 << index)
  }

  function describe(world: World, { index, step, choice }: ProcessMove): string {
    const who = nameOf(world, index)
    if (step === KILLED) return `${who} is killed before ${entry(model.steps, nextStep(world, index)).name}`
    const { name, write: sent, read } = entry(model.steps, step)
    if (sent === -1) return `${who} ${entry(read(world, entry(world.processes, index), index), choice).label} (${name})`
    return `${who}: ${name} ${entry(FATES, choice).label}`
  }

  return { list, apply, describe, write }
}

export function nameOf(world: World, index: number): string {
  const role = entry(world.setup.roles, index)
  if (role.kind === 'promotion') return `promotion ${role.attempt}`
  const isOnly = world.setup.roles.filter(({ kind }) => kind === role.kind).length === 1
  return isOnly ? `the ${role.kind}` : `${role.kind} ${'ABC'[index % 3]}`
}
