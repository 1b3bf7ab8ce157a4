import type { UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { DUE_SHARDS, documentKey, encodeDue } from '../../../lib/aws/dynamodb/document-codec.ts'
import type { PendingDocument } from '../../../lib/ledger/ports/documents.ts'
import { resolveDueItems } from '../../../lib/ledger/resolve-due-items.ts'
import { createRandom } from '../statistics.ts'
import { KEPT_MS, RESOLVER } from './deployed.ts'
import { namesOf, sizeOf, workspaceIdOf } from './population.ts'
import { clock, dependenciesOf, type World } from './world.ts'

export interface Load {
  perSecond: number
  /** The share of promotions whose process is killed. */
  killedShare: number
  seconds: number
  /** Runs of the resolver that begin in each minute. Omitted: as deployed. */
  groups?: number
}

export interface Lateness {
  killed: number
  /** How many were never freed: there must be none. */
  left: number
  /** From the end of the lease until the bytes were free, in seconds. */
  most: number
}

const TICK_MS = 100
const MINUTE_MS = 60_000
const SEED = 17
/** Time until all that was left is due and has been checked. */
const AFTERWARDS_SECONDS = 120 + 4 * 60

/** Promotions all the time, some of whose processes are killed, and the resolver beside them. */
export async function sustain(
  world: World,
  load: Load,
  onRun: (expiry: Awaited<ReturnType<typeof runResolver>>) => void = () => {},
): Promise<Lateness> {
  const { config, population } = world
  const random = createRandom(SEED)
  const promoter = dependenciesOf(world.start(RESOLVER.memoryMib), config)
  const open = new Map<string, number>()
  const lateMs: number[] = []
  let document = 0
  const beganMs = clock.now()
  const lastMs = beganMs + load.seconds * 1000
  const { signal } = new AbortController()

  world.watchers.push(({ operation, input, outcome }) => {
    if (outcome !== 'done') return
    const { Key, ExpressionAttributeNames, UpdateExpression } = input as Pick<
      UpdateItemCommandInput,
      'Key' | 'ExpressionAttributeNames' | 'UpdateExpression'
    >
    const isFreed = UpdateExpression?.includes('remaining_bytes + ') === true
    const ids = [
      operation === 'DeleteItem' ? Key?.document_id?.S : undefined,
      isFreed ? ExpressionAttributeNames?.['#entry'] : undefined,
    ]
    for (const id of ids) {
      const leaseEndsAtMs = open.get(id ?? '')
      if (id === undefined || leaseEndsAtMs === undefined) continue
      open.delete(id)
      lateMs.push(clock.now() - leaseEndsAtMs)
    }
  })
  const everyMinute = (shards: readonly number[]) => {
    void runResolver(world, shards).then(onRun)
    if (clock.now() < lastMs + AFTERWARDS_SECONDS * 1000) setTimeout(() => everyMinute(shards), MINUTE_MS)
  }
  // Schedules do not start at the same time.
  for (const shards of groupsOf(DUE_SHARDS, load.groups)) setTimeout(() => everyMinute(shards), random() * MINUTE_MS)

  for (let tickMs = beganMs; tickMs < lastMs; tickMs += TICK_MS) {
    for (let count = 0; count < (load.perSecond * TICK_MS) / 1000; count++) {
      const workspace = Math.floor(random() * population.workspaces)
      if (random() < load.killedShare) void die(workspace)
      else await passThroughIndex(workspace)
    }
    await clock.runUntil(tickMs + TICK_MS)
  }
  await clock.runUntil(lastMs + AFTERWARDS_SECONDS * 1000)
  return {
    killed: lateMs.length + open.size,
    left: open.size,
    most: Math.max(...lateMs) / 1000,
  }

  function pendingIn(workspace: number): PendingDocument {
    const names = namesOf(workspace, population.documentsEach + ++document)
    return { ...names, workspaceId: workspaceIdOf(workspace), state: 'pending', dueAtMs: clock.now() + config.leaseMs }
  }

  /** A promotion that ends well does this to the index: its item comes and goes. */
  async function passThroughIndex(workspace: number): Promise<void> {
    const pending = pendingIn(workspace)
    const [TableName, Key] = [config.documentsTable, marshall(documentKey(pending))]
    await world.execute('PutItem', { TableName, Item: { ...Key, ...marshall(encodeDue(pending)) } })
    await world.execute('DeleteItem', { TableName, Key })
  }

  /** Dies in the product's own adapters, after it has begun and, mostly, taken its bytes. */
  async function die(workspace: number): Promise<void> {
    const pending = pendingIn(workspace)
    const { workspaceId, documentId, attemptId, dueAtMs: leaseEndsAtMs } = pending
    const hasHold = random() < 2 / 3
    open.set(hasHold ? attemptId : documentId, leaseEndsAtMs)
    await promoter.documents.begin(pending, undefined, signal)
    const sizeBytes = sizeOf(workspace, document)
    if (hasHold) await promoter.ledger.hold({ workspaceId, documentId, attemptId, sizeBytes, leaseEndsAtMs }, signal, 0)
  }
}

/** The shards of each schedule. */
function groupsOf(shards: readonly number[], count: number = RESOLVER.groups): number[][] {
  const size = shards.length / count
  return Array.from({ length: count }, (_, group) => shards.slice(group * size, (group + 1) * size))
}

/** One run of the resolver, as the function does it. @returns what came of expired documents, and how long they took */
async function runResolver({ start, config }: World, shards: readonly number[]) {
  const { memoryMib, timeoutMs } = RESOLVER
  const deps = dependenciesOf(start(memoryMib), config)
  const run = { timeoutEachMs: 10_000, shards }
  const signal = AbortSignal.timeout(timeoutMs - KEPT_MS)
  const startedMs = clock.now()
  const expire = async () => {
    const { freed: expired } = await resolveDueItems('expiry', run, deps, signal)
    return { expired, seconds: (clock.now() - startedMs) / 1000 }
  }
  const [expiry] = await Promise.all([expire(), resolveDueItems('work', run, deps, signal)])
  return expiry
}
