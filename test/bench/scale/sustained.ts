import type { UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { CHECK_SHARDS, checkShardOf } from '../../../lib/aws/dynamodb/workspace-item.ts'
import type { Attempt } from '../../../lib/ledger/ports/reservations.ts'
import { createRandom, percentile } from '../statistics.ts'
import { RESOLVER } from './deployed.ts'
import { namesOf, sizeOf, workspaceIdOf } from './population.ts'
import { groupsOf, runResolver } from './runs.ts'
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
  /** How many were never given back: there must be none. */
  left: number
  /** From the end of the lease until the bytes were given back, in seconds. */
  p50: number
  p99: number
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
    const isGivenBack = UpdateExpression?.includes('remaining_bytes + ') === true
    const ids = [
      operation === 'DeleteItem' ? Key?.reservation_id?.S : undefined,
      isGivenBack ? ExpressionAttributeNames?.['#marker'] : undefined,
    ]
    for (const id of ids) {
      const leaseExpiresAtMs = open.get(id ?? '')
      if (id === undefined || leaseExpiresAtMs === undefined) continue
      open.delete(id)
      lateMs.push(clock.now() - leaseExpiresAtMs)
    }
  })
  const everyMinute = (shards: readonly number[]) => {
    void runResolver(world, shards).then(onRun)
    if (clock.now() < lastMs + AFTERWARDS_SECONDS * 1000) setTimeout(() => everyMinute(shards), MINUTE_MS)
  }
  // Schedules do not start at the same time.
  for (const shards of groupsOf(CHECK_SHARDS, load.groups)) setTimeout(() => everyMinute(shards), random() * MINUTE_MS)

  for (let tickMs = beganMs; tickMs < lastMs; tickMs += TICK_MS) {
    for (let count = 0; count < (load.perSecond * TICK_MS) / 1000; count++) {
      const workspace = Math.floor(random() * population.workspaces)
      if (random() < load.killedShare) void die(workspace)
      else await world.execute('UpdateItem', promotionIn(workspace, clock.now() + config.leaseMs))
    }
    await clock.runUntil(tickMs + TICK_MS)
  }
  await clock.runUntil(lastMs + AFTERWARDS_SECONDS * 1000)
  const seconds = lateMs.map((ms) => ms / 1000)
  return {
    killed: lateMs.length + open.size,
    left: open.size,
    p50: percentile(seconds, 0.5),
    p99: percentile(seconds, 0.99),
    most: Math.max(...seconds),
  }

  /** What a promotion that ends well does to the index: its ledger was changed twice. */
  function promotionIn(workspace: number, dueAtMs: number) {
    const workspaceId = workspaceIdOf(workspace)
    return {
      TableName: config.workspacesTable,
      Key: marshall({ workspace_id: workspaceId }),
      UpdateExpression:
        'SET check_due_at = if_not_exists(check_due_at, :due_at), check_shard = :shard ADD version :two',
      ExpressionAttributeValues: marshall({ ':due_at': dueAtMs, ':shard': checkShardOf(workspaceId), ':two': 2 }),
    }
  }

  /** Dies in the product's own adapters, after taking its bytes and, mostly, opening its reservation. */
  async function die(workspace: number): Promise<void> {
    const { documentId, attemptId, objectKey } = namesOf(workspace, population.documentsEach + ++document)
    const reservation: Attempt = {
      workspaceId: workspaceIdOf(workspace),
      documentId,
      attemptId,
      objectKey,
      sizeBytes: sizeOf(workspace, document),
      leaseExpiresAtMs: clock.now() + config.leaseMs,
    }
    const isTakingOnly = random() < 1 / 3
    open.set(isTakingOnly ? attemptId : documentId, reservation.leaseExpiresAtMs)
    await promoter.quota.take(reservation, signal)
    if (isTakingOnly) return
    await promoter.reservations.reserve(reservation, false, signal)
    await promoter.quota.unmark(reservation, signal)
  }
}
