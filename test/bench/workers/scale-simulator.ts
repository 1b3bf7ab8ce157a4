import { auditRound } from '../scale/audit-round.ts'
import { eraseAll } from '../scale/erase-all.ts'
import { expireAll } from '../scale/expire-all.ts'
import type { Population } from '../scale/population.ts'
import { type Load, sustain } from '../scale/sustained.ts'
import { createWorld } from '../scale/world.ts'
import { serve } from '../worker.ts'

interface On {
  population: Population
}

/** Each runs on a virtual clock, as fast as the machine can. */
const methods = {
  sustain: async ({ load, population }: On & { load: Load }) => sustain(await createWorld(population), load),
  expire: async ({ load, population }: On & { load: Load }) => expireAll(await createWorld(population), load),
  erase: async ({ population }: On) => eraseAll(await createWorld(population)),
  round: async ({ population }: On) => auditRound(await createWorld(population)),
}
export type ScaleSimulatorMethods = typeof methods

serve(methods)
