import type { ServiceDefinition } from '../../../infra/local/service-definition.ts'
import { auditRound, plantFindings, type Round, type RoundOptions } from '../scale/audit-scenarios.ts'
import { createPopulation } from '../scale/population.ts'
import { type Cost, idle, overdue, scanAll } from '../scale/resolver-scenarios.ts'
import { type Lateness, type Load, sustain } from '../scale/sustained.ts'
import { createWorld } from '../scale/world.ts'
import { serve } from '../worker.ts'

type How = 'now' | 'before'
type Of<Options> = Options & { definition: ServiceDefinition; workspaces: number }

const worldOf = ({ workspaces, definition }: Of<object>) =>
  createWorld(createPopulation({ workspaces, documentsIn: () => 3 }), definition)

/** Each runs on a virtual clock, as fast as the machine can. */
const methods = {
  async idle({ how, ...of }: Of<{ how: How }>): Promise<Cost> {
    return idle(await worldOf(of), how)
  },
  async scanAll(of: Of<object>): Promise<Cost> {
    return scanAll(await worldOf(of))
  },
  async overdue({
    how,
    count,
    group,
    ...of
  }: Of<{ how: How; count: number; group?: number }>): Promise<Cost & { runs: number }> {
    return overdue(await worldOf(of), { count, how, ...(group !== undefined && { group }) })
  },
  async sustain({ load, ...of }: Of<{ load: Load }>): Promise<Lateness> {
    return sustain(await worldOf(of), load)
  },
  async round({
    workspaces,
    documents,
    findings,
    definition,
    ...options
  }: Of<RoundOptions & { documents: number; findings: number }>): Promise<Round> {
    const population = plantFindings({ workspaces, documentsIn: () => documents }, findings)
    return auditRound(await createWorld(population, definition), options)
  },
}
export type ScaleSimulatorMethods = typeof methods

serve(methods)
