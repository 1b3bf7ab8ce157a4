import type { ServiceDefinition } from '../../../infra/local/service-definition.ts'
import { readConfig } from '../../../lib/config.ts'
import { startLimitedDynamoDb } from '../../support/dynamodb/start-limited-dynamodb.ts'
import { countLeftOpen, prepareTables } from '../contention/service.ts'
import { createTally, type Tally } from '../contention/tally.ts'
import { serve } from '../worker.ts'

/** As in contention/simulation.ts. */
const STALE_MS = 20
const tally = createTally()
const config = readConfig(process.env)
const { endpoint, dynamoDb } = await startLimitedDynamoDb({ now: Date.now, staleMs: STALE_MS, onCall: tally.count })

const methods = {
  /** Makes the tables of the template, and API keys of one workspace. */
  async start(definition: Pick<ServiceDefinition, 'tables'>) {
    return { endpoint, tokens: await prepareTables(dynamoDb, definition, config) }
  },
  reset: () => tally.reset(),
  read: async (): Promise<Tally & { leftOpen: number }> => ({
    ...tally.read(),
    leftOpen: await countLeftOpen(dynamoDb, config),
  }),
}
export type LimitedDynamoDbMethods = typeof methods

serve(methods)
