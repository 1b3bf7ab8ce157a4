import { createWorkspaceStores } from '../../lib/aws/workspace-stores.ts'
import { wire } from './wire.ts'

/** Shared by the functions that are not invoked by requests. In a file of its own: the others' bundles would have parts of it. */
export function wireMaintenance(functionName: string) {
  const { config, clients, log, metrics, now } = wire(functionName)
  return { config, clients, metrics, dependencies: { ...createWorkspaceStores({ config, ...clients, now }), log } }
}
