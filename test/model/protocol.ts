import { auditSteps } from './audit.ts'
import { deletionSteps } from './deletion.ts'
import { PREDICATES } from './predicates.ts'
import { laneSteps, promotionSteps } from './promotion.ts'
import { resolverSteps } from './resolver.ts'
import { type Choice, ENDS, type Next, type Steps } from './steps.ts'
import type { Call, Process, World } from './world.ts'
import { createWrites, WRITE_NAMES, type Write, type WriteName } from './writes.ts'

/** The protocol as tables, in which a bug can be planted. */
export interface Protocol {
  writes: Record<WriteName, Write>
  steps: Steps
}

export function createProtocol(): Protocol {
  return {
    writes: createWrites(),
    steps: { ...promotionSteps(), ...laneSteps(), ...deletionSteps(), ...resolverSteps(), ...auditSteps() },
  }
}

export type Go = (world: World, process: Process, index: number) => number

export interface ModelStep {
  name: string
  isEnd: boolean
  /** An index into the writes; -1: it reads. */
  write: number
  inRelease: boolean
  on: Readonly<Record<string, Go>>
  read(world: World, process: Process, index: number): Choice[]
}

export interface ModelWrite extends Write {
  name: WriteName
  holds(world: World, call: Call): boolean
}

/** The tables with names resolved: quick enough for millions of states. */
export interface Model {
  steps: readonly ModelStep[]
  writes: readonly ModelWrite[]
  indexOf(step: string): number
  go(next: Next, world: World, process: Process, index: number): number
}

export function createModel({ steps, writes }: Protocol): Model {
  const names = [...ENDS, ...Object.keys(steps)]
  const indices = new Map(names.map((name, index) => [name, index]))

  function indexOf(name: string): number {
    const index = indices.get(name)
    if (index === undefined) throw new Error(`no such step: ${name}`)
    return index
  }

  const go: Model['go'] = (next, world, process, index) =>
    indexOf(typeof next === 'string' ? next : next(world, process, index))

  const compile = (next: Next): Go => {
    if (typeof next === 'function') return (world, process, index) => go(next, world, process, index)
    const target = indexOf(next)
    return () => target
  }

  function modelStep(name: string): ModelStep {
    const step = steps[name]
    const isRead = step !== undefined && 'read' in step
    const on = step === undefined || isRead ? {} : step.on
    return {
      name,
      isEnd: step === undefined,
      write: step === undefined || isRead ? -1 : WRITE_NAMES.indexOf(step.write),
      inRelease: step !== undefined && !isRead && step.inRelease === true,
      on: Object.fromEntries(Object.entries(on).map(([answer, next]) => [answer, compile(next)])),
      read: isRead ? step.read : () => [],
    }
  }

  return {
    steps: names.map(modelStep),
    writes: WRITE_NAMES.map((name) => ({ ...writes[name], name, holds: condition(writes[name].where) })),
    indexOf,
    go,
  }
}

function condition(where: Write['where']): ModelWrite['holds'] {
  const alternatives = where.map((names) => names.map((name) => PREDICATES[name]))
  return (world, call) => alternatives.some((predicates) => predicates.every((holds) => holds(world, call)))
}
