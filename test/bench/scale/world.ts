import type { ServiceDefinition } from '../../../infra/local/service-definition.ts'
import { createWorkspaceStores } from '../../../lib/aws/workspace-stores.ts'
import { type Config, readConfig } from '../../../lib/config.ts'
import type { Log } from '../../../lib/logging.ts'
import { type Consumption, createLimitedDynamoDb } from '../../support/dynamodb/limited-dynamodb.ts'
import { parseOnce } from '../../support/dynamodb/parse-once.ts'
import { installVirtualClock, type VirtualClock } from '../contention/virtual-clock.ts'
import { createDelays, ZERO_LATENCY } from '../simulator/model.ts'
import { createRandom } from '../statistics.ts'
import { createFormulaDynamoDb } from './formula-dynamodb.ts'
import { createFormulaS3 } from './formula-s3.ts'
import { createInstance, type Instance, type Stores } from './instance.ts'
import { createMeter, type Meter } from './meter.ts'
import { type Population, workspaceIdOf } from './population.ts'

export const SILENT: Log = { info() {}, warn() {}, error() {}, with: () => SILENT }
/** As in the bench of one busy workspace. */
const LATENCY = { dynamoDb: { p50: 5, p99: 15 }, s3: { p50: 25, p99: 90 } }
/** How far indexes, and reads that are not strongly consistent, are behind. */
const STALE_MS = 100
const SEED = 11

/** For the whole process: there is no way back to the real one. */
export const clock: VirtualClock = installVirtualClock()
parseOnce()

export interface World {
  config: Config
  population: Population
  stores: Stores
  meter: Meter
  /** Without being counted. */
  prepare<Result>(work: (dynamoDb: Stores['dynamoDb']) => Promise<Result>): Promise<Result>
  /** A process of a function. @param onDone is told of every call that DynamoDB did */
  start(memoryMib: number, onDone?: (operation: string, input: Record<string, unknown>) => void): Instance
}

/** DynamoDB and S3 with that population, on the virtual clock. */
export async function createWorld(population: Population, definition: ServiceDefinition): Promise<World> {
  const config = readConfig(process.env)
  // What the code draws for its pauses.
  Math.random = createRandom(SEED)
  const meter = createMeter()
  let isCounted = false
  const count = ({
    operation,
    units,
    outcome = 'done',
  }: Pick<Consumption, 'operation' | 'units'> & Partial<Consumption>) => {
    if (!isCounted) return
    const isThrottled = outcome === 'throttled'
    const isRead = /^(GetItem|BatchGetItem|Query|Scan)$/.test(operation)
    meter.add({ dynamoDbCalls: 1, throttled: isThrottled ? 1 : 0 })
    if (!isThrottled) meter.add(isRead ? { readUnits: units } : { writeUnits: units })
  }
  const written = createLimitedDynamoDb({ now: clock.now, staleMs: STALE_MS, onCall: count })
  for (const { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode } of definition.tables) {
    const table = { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode }
    await written.execute('CreateTable', JSON.parse(JSON.stringify(table)))
  }
  const tables = {
    workspaces: config.workspacesTable,
    reservations: config.reservationsTable,
    documents: config.documentsTable,
  }
  const dynamoDb = createFormulaDynamoDb(written, population, tables, count, clock.now)
  const stores: Stores = { dynamoDb, s3: createFormulaS3(population) }
  const delay = createDelays({ ...ZERO_LATENCY, latency: { ...LATENCY, default: LATENCY.dynamoDb }, seed: SEED + 1 })
  // The SDK reads what it looks for in files when a client is first used: the virtual clock waits for no file.
  const first = createInstance({ stores, meter, memoryMib: 1769, latencyMs: () => 0 })
  const { ledgers, objects } = dependenciesOf(first, config)
  const { signal } = new AbortController()
  await Promise.all([ledgers.read(workspaceIdOf(0), signal), objects.hasObject('none', signal)].map(settled))
  Object.assign(meter.spent, createMeter().spent)
  isCounted = true
  return {
    config,
    population,
    stores,
    meter,
    async prepare(work) {
      isCounted = false
      try {
        return await work(dynamoDb)
      } finally {
        isCounted = true
      }
    },
    start: (memoryMib, onDone) =>
      createInstance({
        stores,
        meter,
        memoryMib,
        latencyMs: (service) => delay(service, 0),
        ...(onDone && { onDone }),
      }),
  }
}

/** Lets time pass until then. */
async function settled(promise: Promise<unknown>): Promise<void> {
  let isOver = false
  const note = () => {
    isOver = true
  }
  promise.then(note, note)
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    await clock.runUntil(clock.now() + 1)
  }
}

/** What the resolver and the audit of a process work with: the product's own adapters. */
export function dependenciesOf({ dynamoDb, s3 }: Instance, config: Config) {
  // Not Date.now itself: the virtual clock replaces it.
  return { ...createWorkspaceStores({ config, dynamoDb, s3, now: () => Date.now() }), log: SILENT }
}
