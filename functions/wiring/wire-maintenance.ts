import { dueWork, ledger, maintainedDocuments, objects, open, workspaces } from '../../lib/aws/stores.ts'
import { wire } from './wire.ts'

/** Shared by the functions that are not invoked by requests. In a file of its own: the others' bundles would have parts of it. */
export function wireMaintenance(functionName: string) {
  const { stores, log, metrics, objectKeys } = wire(functionName)
  const { config, now } = stores
  const dependencies = {
    ...{ log, now, objectKeys, leaseMs: config.leaseMs },
    ...open({ ledger, workspaces, documents: maintainedDocuments, dueWork, objects }, stores),
  }
  return { stores, metrics, dependencies }
}
