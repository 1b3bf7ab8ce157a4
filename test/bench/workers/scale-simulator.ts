import type { ServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { auditRound, type RoundOptions } from '../scale/audit-round.ts'
import { eraseAll } from '../scale/erase-all.ts'
import { expireAll } from '../scale/expire-all.ts'
import type { Population } from '../scale/population.ts'
import { type Load, sustain } from '../scale/sustained.ts'
import { createWorld } from '../scale/world.ts'
import { serve } from '../worker.ts'

type Of<Options> = Options & { definition: ServiceDefinition; population: Population }

/** Each runs on a virtual clock, as fast as the machine can. */
const methods = {
  sustain: async ({ load, population, definition }: Of<{ load: Load }>) =>
    sustain(await createWorld(population, definition), load),
  expire: async ({ load, population, definition }: Of<{ load: Load }>) =>
    expireAll(await createWorld(population, definition), load),
  erase: async ({ population, definition }: Of<object>) => eraseAll(await createWorld(population, definition)),
  round: async ({ population, definition, ...options }: Of<RoundOptions>) =>
    auditRound(await createWorld(population, definition), options),
}
export type ScaleSimulatorMethods = typeof methods

serve(methods)
