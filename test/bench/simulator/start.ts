import { startWorker, type Worker } from '../worker.ts'
import type { SimulatorMethods } from './main.ts'
import type { Model } from './model.ts'

export type Simulator = Worker<SimulatorMethods> & { endpoint: string }

/** A simulated S3 and DynamoDB in a process of its own. */
export async function startSimulator(model: Model): Promise<Simulator> {
  const worker = await startWorker<SimulatorMethods>('simulator/main.ts')
  await worker.call('become', model)
  return { ...worker, endpoint: await worker.call('endpoint', undefined) }
}
