import type { ResolverReport } from '../../../lib/maintenance/resolve-expired-reservations.ts'
import { resolveExpiredReservations } from '../../../lib/maintenance/resolve-expired-reservations.ts'
import { MEMORY_MIB_BEFORE, resolveAsBefore } from './before.ts'
import type { Instance } from './instance.ts'
import { clock, dependenciesOf, type World } from './world.ts'

/** As in serverless.yml. */
export const RESOLVER = { memoryMib: 1769, timeoutMs: 55_000, groups: 4, maxResolutions: 20_000 }
/** What is kept back of the time of a function (lib/deadline.ts). */
const KEPT_MS = 2500
const STEP_MS = 50

export interface Run {
  instance: Instance
  /** undefined: it was killed, or its time was over. */
  ended: Promise<ResolverReport | undefined>
}

/** The shards of each schedule. */
export function groupsOf(shards: readonly number[], count: number = RESOLVER.groups): number[][] {
  const size = shards.length / count
  return Array.from({ length: count }, (_, group) => shards.slice(group * size, (group + 1) * size))
}

/** Starts one run of the resolver, as the function does. @param onDone is told of every call that DynamoDB did */
export function startRun(
  world: World,
  shards: readonly number[],
  onDone?: (operation: string, input: Record<string, unknown>) => void,
): Run {
  const instance = world.start(RESOLVER.memoryMib, onDone)
  const deps = dependenciesOf(instance, world.config)
  const { timeoutMs, maxResolutions } = RESOLVER
  const bounds = { maxResolutions, timeoutEachMs: 10_000, endsAtMs: clock.now() + timeoutMs, shards }
  const run = resolveExpiredReservations(bounds, deps, AbortSignal.timeout(timeoutMs - KEPT_MS))
  return { instance, ended: charged(world, RESOLVER.memoryMib, run) }
}

/** As commit 459dfe7 did it. */
export function startRunAsBefore(world: World): Run {
  const instance = world.start(MEMORY_MIB_BEFORE)
  const signal = AbortSignal.timeout(RESOLVER.timeoutMs - KEPT_MS)
  const run = resolveAsBefore(dependenciesOf(instance, world.config), signal).then(() => undefined)
  return { instance, ended: charged(world, MEMORY_MIB_BEFORE, run) }
}

async function charged<Result>({ meter }: World, memoryMib: number, run: Promise<Result>): Promise<Result> {
  const startedMs = clock.now()
  meter.add({ invocations: 1 })
  const result = await run
  meter.add({ gibSeconds: ((clock.now() - startedMs) / 1000) * (memoryMib / 1024) })
  return result
}

/** Lets time pass until that has come about. @returns ms that it took */
export async function letPassUntil(happened: Promise<unknown>): Promise<number> {
  const startedMs = clock.now()
  let endedMs: number | undefined
  const note = () => {
    endedMs = clock.now()
  }
  happened.then(note, note)
  while (endedMs === undefined) await clock.runUntil(clock.now() + STEP_MS)
  await happened
  return endedMs - startedMs
}
