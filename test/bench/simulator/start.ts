import { startWorker, type Worker } from '../worker.ts'
import type { Model, SimulatorMethods } from './main.ts'

export type Simulator = Worker<SimulatorMethods> & { endpoint: string }

/** A simulated S3 and DynamoDB in a process of its own. @param model omitted: they cost nothing, what is left is our own time */
export async function startSimulator(model?: Model): Promise<Simulator> {
  const worker = await startWorker<SimulatorMethods>('simulator/main.ts')
  if (model) await worker.call('become', model)
  return { ...worker, endpoint: await worker.call('endpoint', undefined) }
}
