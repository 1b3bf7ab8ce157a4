import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { S3Client } from '@aws-sdk/client-s3'
import { readTables } from '../../../infra/deploy/service-definition.ts'
import type { StoredObject } from '../../../infra/local/stores/s3-contents.ts'
import { createDynamoDbClient, createS3Client } from '../../../lib/aws/clients.ts'
import { DUE_INDEX } from '../../../lib/aws/dynamodb/documents.ts'
import { openStores } from '../../../lib/aws/stores.ts'
import { type Config, readConfig } from '../../../lib/config.ts'
import { createMemoryDynamoDb } from '../../support/aws/memory-dynamodb.ts'
import { createMemoryS3 } from '../../support/aws/memory-s3.ts'
import type { Store } from '../../support/aws/store.ts'
import type { IndexDefinition } from '../../support/dynamodb/capacity.ts'
import { createIndexKey, createKey, type Table } from '../../support/dynamodb/dynalite.ts'
import type { Consumption } from '../../support/dynamodb/limited-dynamodb.ts'
import { createTables } from '../../support/dynamodb/memory-tables.ts'
import { installVirtualClock } from '../../support/virtual-clock.ts'
import { type Compute, createLatencies, inProcessOptions, waitUnlessAborted } from '../contention/in-process.ts'
import { SILENT } from '../contention/service.ts'
import { createRandom } from '../statistics.ts'
import {
  documentItem,
  expiresAtOf,
  namesOf,
  type Population,
  sizeOf,
  workspaceIdOf,
  workspaceItem,
} from './population.ts'

const LATENCY = { dynamoDb: { p50: 5, p99: 15 }, s3: { p50: 25, p99: 90 } }
/** How far indexes, and reads that are not strongly consistent, are behind. */
const STALE_MS = 100
const SEED = 11

/** For the whole process: there is no way back to the real one. */
export const clock = installVirtualClock()

/** Amazon Lambda developer guide, "Configure memory": from here on a function has one whole processor. */
const MEMORY_MIB_OF_ONE_PROCESSOR = 1769

type Stores = Record<'dynamoDb' | 's3', Store>
interface Clients {
  dynamoDb: DynamoDBClient
  s3: S3Client
}

export interface Spent {
  /** DynamoDB counts them, by the size of what is read. */
  readUnits: number
  /** Time of the functions, times the memory they have. */
  gibSeconds: number
  /** Writes that DynamoDB turned away, of whatever process. */
  throttled: number
}

export interface World {
  config: Config
  population: Population
  spent: Spent
  /** Each is called for every call of DynamoDB. */
  watchers: ((call: Consumption) => void)[]
  /** A call of DynamoDB outside the simulation: it costs nothing, takes no time and has no limits. */
  execute(operation: string, input: object): Promise<unknown>
  /** Starts a process of a function: AWS clients, and one processor that does the work of their calls. */
  start(memoryMib: number): Clients
}

/** DynamoDB and S3 with that population, on the virtual clock. */
export async function createWorld(population: Population): Promise<World> {
  const config = readConfig(process.env)
  // The product draws the lengths of its pauses from it.
  Math.random = createRandom(SEED)
  const spent: Spent = { readUnits: 0, gibSeconds: 0, throttled: 0 }
  let isCounted = false
  const count = (call: Consumption) => {
    if (!isCounted) return
    if (call.outcome === 'throttled') spent.throttled++
    else if (/^(GetItem|Query|Scan)$/.test(call.operation)) spent.readUnits += call.units
    for (const watch of world.watchers) watch(call)
  }
  const dynamoDb = createMemoryDynamoDb({ now: clock.now, staleMs: STALE_MS, onCall: count })
  createTables(dynamoDb, readTables(process.env))
  const s3 = createMemoryS3()
  fill({ dynamoDb, s3 }, population, config)
  const stores = { dynamoDb: dynamoDb.store, s3: s3.store }
  const drawMs = createLatencies(LATENCY, SEED + 1)
  // The SDK reads files when a client is first used, and the virtual clock waits for no file.
  const { ledger, objects } = dependenciesOf(clientsOf(stores), config)
  const { signal } = new AbortController()
  await Promise.all([ledger.read(workspaceIdOf(0), signal), objects.hasObject('none', signal)])
  isCounted = true
  const world: World = {
    config,
    population,
    spent,
    watchers: [],
    async execute(operation, input) {
      isCounted = false
      const answer = dynamoDb.execute(operation, { ...input })
      isCounted = true
      return answer
    },
    start: (memoryMib) => clientsOf(stores, drawMs, createProcessor(memoryMib)),
  }
  return world
}

/** Puts everything into the stores, past their limits; of the indexes, only that of due work, as nobody reads another one first. */
function fill(
  { dynamoDb, s3 }: { dynamoDb: ReturnType<typeof createMemoryDynamoDb>; s3: ReturnType<typeof createMemoryS3> },
  population: Population,
  config: Config,
): void {
  const spaces = dynamoDb.snapshot()
  const put = (tableName: string, item: ReturnType<typeof documentItem>) => {
    const table = spaces.tables.get(tableName) as Table
    const filledMs = clock.now() - STALE_MS
    spaces.of(tableName).set(createKey(item, table), item, filledMs)
    if (!item.due_at) return
    const { IndexName = '', KeySchema } = dueIndexOf(table)
    spaces.of(tableName, IndexName).set(createIndexKey(item, table, KeySchema), item, filledMs)
  }
  const objects = new Map<string, StoredObject>()
  for (let workspace = 0; workspace < population.workspaces; workspace++) {
    put(config.workspacesTable, workspaceItem(workspace, population))
    for (let document = 0; document < population.documentsEach; document++) {
      const expiresAt =
        population.expireWithinMs && expiresAtOf(workspace, document, clock.now(), population.expireWithinMs)
      put(config.documentsTable, documentItem(workspace, document, expiresAt || undefined))
      // Nobody reads what is in it.
      const pieces = [{ of: '', from: 0, to: sizeOf(workspace, document) }]
      objects.set(namesOf(workspace, document).objectKey, { pieces, etag: '"e"', headers: {}, modifiedAtMs: 0 })
    }
  }
  dynamoDb.restore(spaces)
  const buckets = new Map([
    [config.sandboxBucket, new Map()],
    [config.documentsBucket, objects],
  ])
  s3.restore({ buckets, versions: new Map(), uploads: new Map() })
}

const dueIndexOf = ({ GlobalSecondaryIndexes = [] }: Table) =>
  GlobalSecondaryIndexes.find(({ IndexName }) => IndexName === DUE_INDEX) as IndexDefinition

/** A processor of a function with this memory: it does one thing after the other. */
function createProcessor(memoryMib: number): Compute {
  const processors = Math.min(1, memoryMib / MEMORY_MIB_OF_ONE_PROCESSOR)
  let busyUntilMs = performance.now()
  return async (cpuMs, signal) => {
    busyUntilMs = Math.max(busyUntilMs, performance.now()) + cpuMs / processors
    await waitUnlessAborted(busyUntilMs - performance.now(), signal)
  }
}

function clientsOf(stores: Stores, latencyMs: (service: keyof Stores) => number = () => 0, compute?: Compute): Clients {
  const optionsOf = (service: keyof Stores) => inProcessOptions(stores[service], () => latencyMs(service), compute)
  return { dynamoDb: createDynamoDbClient(optionsOf('dynamoDb')), s3: createS3Client(optionsOf('s3')) }
}

/** The product's own adapters, for the resolver and the audit of a process. */
export function dependenciesOf({ dynamoDb, s3 }: Clients, config: Config) {
  // Date.now must not be passed itself, as the virtual clock replaces it.
  return { ...openStores({ config, dynamoDb, s3, now: () => Date.now() }), log: SILENT }
}
