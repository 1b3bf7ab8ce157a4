import { readServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { lambdaEnvironment, UNLIMITED } from '../bundles.ts'
import { startWorker, type Worker } from '../worker.ts'
import type { ContentionSimulatorMethods } from '../workers/contention-simulator.ts'
import type { Model, SimulatorMethods } from './main.ts'

export type Simulator = Worker<SimulatorMethods> & { endpoint: string }

/** A simulated S3 and DynamoDB in a process of its own. @param model omitted: they cost nothing, what is left is our own time */
export async function startSimulator(model?: Model): Promise<Simulator> {
  const worker = await startWorker<SimulatorMethods>('simulator/main.ts')
  if (model) await worker.call('become', model)
  return { ...worker, endpoint: await worker.call('endpoint', undefined) }
}

/** To simulate minutes takes minutes, on a slow machine more. */
export const SIMULATION_LIMIT_MS = 3_600_000

/** The real functions in many processes on the template's tables, on a clock of their own. */
export function startContentionSimulator(): Promise<Worker<ContentionSimulatorMethods>> {
  const env = { ...lambdaEnvironment('http://unused'), ...readServiceDefinition().environment, ...UNLIMITED }
  return startWorker('workers/contention-simulator.ts', { env, callLimitMs: SIMULATION_LIMIT_MS })
}
