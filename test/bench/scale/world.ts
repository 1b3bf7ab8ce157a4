import type { ServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import type { StoredObject } from '../../../infra/local/stores/s3-contents.ts'
import { DUE_INDEX } from '../../../lib/aws/dynamodb/documents.ts'
import { createWorkspaceStores } from '../../../lib/aws/workspace-stores.ts'
import { type Config, readConfig } from '../../../lib/config.ts'
import { createMemoryDynamoDb } from '../../support/aws/memory-dynamodb.ts'
import { createMemoryS3 } from '../../support/aws/memory-s3.ts'
import type { IndexDefinition } from '../../support/dynamodb/capacity.ts'
import { createIndexKey, createKey, type Table } from '../../support/dynamodb/dynalite.ts'
import type { Consumption } from '../../support/dynamodb/limited-dynamodb.ts'
import { createTables, SILENT } from '../contention/service.ts'
import { installVirtualClock, type VirtualClock } from '../contention/virtual-clock.ts'
import { createDelays, ZERO_LATENCY } from '../simulator/model.ts'
import { createRandom } from '../statistics.ts'
import { createInstance, type Instance } from './instance.ts'
import {
  documentItem,
  expiresAtOf,
  namesOf,
  type Population,
  sizeOf,
  workspaceIdOf,
  workspaceItem,
} from './population.ts'

/** As in the bench of one busy workspace. */
const LATENCY = { dynamoDb: { p50: 5, p99: 15 }, s3: { p50: 25, p99: 90 } }
/** How far indexes, and reads that are not strongly consistent, are behind. */
const STALE_MS = 100
const SEED = 11

/** For the whole process: there is no way back to the real one. */
export const clock: VirtualClock = installVirtualClock()

export interface Spent {
  /** DynamoDB counts them, by the size of what is read. */
  readUnits: number
  /** Time of the functions, times the memory they have. */
  gibSeconds: number
}

export interface World {
  config: Config
  population: Population
  spent: Spent
  /** Each is called for every call of DynamoDB. */
  watchers: ((call: Consumption) => void)[]
  /** A call of DynamoDB outside the simulation: it costs nothing, takes no time and has no limits. */
  execute(operation: string, input: object): Promise<unknown>
  /** Starts a process of a function. */
  start(memoryMib: number): Instance
}

/** DynamoDB and S3 with that population, on the virtual clock. */
export async function createWorld(population: Population, definition: ServiceDefinition): Promise<World> {
  const config = readConfig(process.env)
  // The product draws the lengths of its pauses from it.
  Math.random = createRandom(SEED)
  const spent: Spent = { readUnits: 0, gibSeconds: 0 }
  let isCounted = false
  const count = (call: Consumption) => {
    if (!isCounted) return
    if (call.outcome !== 'throttled' && /^(GetItem|Query|Scan)$/.test(call.operation)) spent.readUnits += call.units
    for (const watch of world.watchers) watch(call)
  }
  const dynamoDb = createMemoryDynamoDb({ now: clock.now, staleMs: STALE_MS, onCall: count })
  await createTables(dynamoDb, definition)
  const s3 = createMemoryS3()
  fill({ dynamoDb, s3 }, population, config)
  const stores = { dynamoDb: dynamoDb.store, s3: s3.store }
  const delay = createDelays({ ...ZERO_LATENCY, latency: { ...LATENCY, default: LATENCY.dynamoDb }, seed: SEED + 1 })
  // The SDK reads files when a client is first used, and the virtual clock waits for no file.
  const first = createInstance({ stores, memoryMib: 1769, latencyMs: () => 0 })
  const { ledger, objects } = dependenciesOf(first, config)
  const { signal } = new AbortController()
  await Promise.all([ledger.read(workspaceIdOf(0), signal), objects.hasObject('none', signal)].map(settled))
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
    start: (memoryMib) => createInstance({ stores, memoryMib, latencyMs: (service) => delay(service, 0) }),
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

/** Lets time pass until the promise has settled. */
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

/** The product's own adapters, for the resolver and the audit of a process. */
export function dependenciesOf({ dynamoDb, s3 }: Instance, config: Config) {
  // Date.now must not be passed itself, as the virtual clock replaces it.
  return { ...createWorkspaceStores({ config, dynamoDb, s3, now: () => Date.now() }), log: SILENT }
}
