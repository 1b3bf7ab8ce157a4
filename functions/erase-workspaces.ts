import type { Context } from 'aws-lambda'
import { type ErasureReport, eraseDueWorkspaces } from '../lib/administration/erase-due-workspaces.ts'
import { createBusClient } from '../lib/aws/event-clients.ts'
import { createEventBus } from '../lib/aws/events/event-bus.ts'
import { erasedObjects, erasures, keyAdministration, ledger, links, open } from '../lib/aws/stores.ts'
import { readVariables } from '../lib/config.ts'
import { createDeadline } from '../lib/deadline.ts'
import { wire } from './wiring/wire.ts'

const NAME = 'erase-workspaces'

const { stores, log, metrics } = wire(NAME)
const { eventBus } = readVariables(process.env, { eventBus: { default: '' } })
const deps = {
  ...{ log, now: stores.now },
  ...open({ ledger, erasures, erasedObjects, apiKeys: keyAdministration, links }, stores),
  bus: eventBus === '' ? undefined : createEventBus({ client: createBusClient(NAME), eventBus }),
}

/** @throws when the erasures could not be listed */
export async function handler(_event: unknown, context: Context): Promise<ErasureReport> {
  const { signal } = createDeadline(() => context.getRemainingTimeInMillis())
  const report = await eraseDueWorkspaces(deps, signal)
  // Stages where nothing fails pay for no further metric.
  if (report.failed > 0) metrics.publish({ ErasuresFailed: report.failed })
  return report
}
