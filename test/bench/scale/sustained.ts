import { marshall } from '@aws-sdk/util-dynamodb'
import { CHECK_SHARDS, checkShardOf } from '../../../lib/aws/workspace-item.ts'
import type { Reservation } from '../../../lib/promotion/reservations.ts'
import { createRandom, percentile } from '../statistics.ts'
import { namesOf, sizeOf, workspaceIdOf } from './population.ts'
import { read } from './resolver-scenarios.ts'
import { groupsOf, RESOLVER, type Run, startRun } from './runs.ts'
import { clock, dependenciesOf, type World } from './world.ts'

export interface Load {
  perSecond: number
  /** How many workspaces they go to, at random. */
  busyWorkspaces: number
  /** Of the promotions whose process is killed. */
  killedShare: number
  /** Of the resolver's own runs that are killed. */
  killedRunsShare: number
  seconds: number
}

export interface Lateness {
  killed: number
  /** Never given back, which must not be. */
  left: number
  /** From the end of the lease until the bytes were given back, in seconds. */
  p50: number
  p99: number
  most: number
  runs: number
  killedRuns: number
  longestRunSeconds: number
  looksPerMinute: number
}

const TICK_MS = 100
const MINUTE_MS = 60_000
const SEED = 17
/** A run that is killed is killed within this time: many are over by then. */
const KILLED_WITHIN_MS = 500
/** Until all that was left is due, looked at, and looked at again where a run was killed. */
const AFTERWARDS_SECONDS = 120 + 4 * 60

/** Promotions all the time, some of whose processes are killed, and the resolver beside them. */
export async function sustain(world: World, load: Load): Promise<Lateness> {
  const { config, population } = world
  const random = createRandom(SEED)
  const promoter = dependenciesOf(world.start(RESOLVER.memoryMib), config)
  const open = new Map<string, number>()
  const lateMs: number[] = []
  const runs: Run[] = []
  let killedRuns = 0
  let longestRunMs = 0
  let looks = 0
  let document = 0
  const apart = Math.floor(population.workspaces / load.busyWorkspaces)
  const beganMs = clock.now()
  const lastMs = beganMs + load.seconds * 1000
  const { signal } = new AbortController()

  const resolved = (_: string, input: Record<string, unknown>) => {
    const {
      Key,
      ExpressionAttributeNames: names,
      UpdateExpression = '',
    } = input as {
      Key?: { reservation_id?: { S: string } }
      ExpressionAttributeNames?: Record<string, string>
      UpdateExpression?: string
    }
    const isGivenBack = UpdateExpression.includes('remaining_bytes + ')
    for (const id of [Key?.reservation_id?.S, isGivenBack ? names?.['#marker'] : undefined]) {
      const leaseExpiresAtMs = id === undefined ? undefined : open.get(id)
      if (id === undefined || leaseExpiresAtMs === undefined) continue
      open.delete(id)
      lateMs.push(clock.now() - leaseExpiresAtMs)
    }
  }
  const startResolver = (shards: readonly number[]) => {
    const startedMs = clock.now()
    const run = startRun(world, shards, resolved)
    runs.push(run)
    let isOver = false
    void run.ended.then((report) => {
      isOver = true
      longestRunMs = Math.max(longestRunMs, clock.now() - startedMs)
      looks += (report?.workspaces ?? 0) + (report?.elsewhere ?? 0)
    })
    // Every so many, while it is at work.
    if (load.killedRunsShare > 0 && runs.length % Math.round(1 / load.killedRunsShare) === 0) {
      setTimeout(() => {
        if (isOver) return
        killedRuns++
        run.instance.kill()
      }, random() * KILLED_WITHIN_MS)
    }
  }
  const everyMinute = (shards: readonly number[]) => {
    startResolver(shards)
    if (clock.now() < lastMs + AFTERWARDS_SECONDS * 1000) setTimeout(() => everyMinute(shards), MINUTE_MS)
  }
  // Schedules keep no common time.
  for (const shards of groupsOf(CHECK_SHARDS)) setTimeout(() => everyMinute(shards), random() * MINUTE_MS)

  for (let tickMs = beganMs; tickMs < lastMs; tickMs += TICK_MS) {
    await world.prepare(async (dynamoDb) => {
      for (let count = 0; count < (load.perSecond * TICK_MS) / 1000; count++) {
        const workspace = Math.floor(random() * load.busyWorkspaces) * apart
        if (random() < load.killedShare) void die(workspace)
        else await read(dynamoDb).execute('UpdateItem', promotionIn(workspace, clock.now() + config.leaseMs))
      }
    })
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
    runs: runs.length,
    killedRuns,
    longestRunSeconds: longestRunMs / 1000,
    looksPerMinute: (looks / (clock.now() - beganMs)) * MINUTE_MS,
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

  /** By the product's own adapters: it takes its bytes, and mostly opens its reservation, too. */
  async function die(workspace: number): Promise<void> {
    const { documentId, attemptId, objectKey } = namesOf(workspace, population.documentsIn(workspace) + ++document)
    const reservation: Reservation = {
      workspaceId: workspaceIdOf(workspace),
      documentId,
      attemptId,
      objectKey,
      sizeBytes: sizeOf(workspace, document),
      leaseExpiresAtMs: clock.now() + config.leaseMs,
    }
    const isTakingOnly = random() < 1 / 3
    open.set(isTakingOnly ? attemptId : documentId, reservation.leaseExpiresAtMs)
    await promoter.ledger.take(reservation, signal)
    if (isTakingOnly) return
    await promoter.reservations.open(reservation, false, signal)
    await promoter.ledger.unmark(reservation, signal)
  }
}
