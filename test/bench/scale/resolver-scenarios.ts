import { CHECK_SHARDS, checkShardOf } from '../../../lib/aws/workspace-item.ts'
import { createRandom } from '../statistics.ts'
import { isHealed, type Leftover, plantLeftover } from './leftovers.ts'
import { dollarsOf, type Spent } from './meter.ts'
import { type Population, workspaceIdOf } from './population.ts'
import { groupsOf, letPassUntil, RESOLVER, type Run, startRun, startRunAsBefore } from './runs.ts'
import { clock, dependenciesOf, type World } from './world.ts'

export interface Cost extends Spent {
  seconds: number
  dollars: number
  instances: number
}

const MINUTE_MS = 60_000
const SEED = 5

/** All runs of one minute, with nothing overdue. */
export async function idle(world: World, how: 'now' | 'before'): Promise<Cost> {
  const runs = startMinute(world, how)
  const ms = await letPassUntil(Promise.all(runs.map(({ ended }) => ended)))
  return costOf(world, ms, runs.length)
}

/** What a resolver without an index would do each minute: read them all. */
export async function scanAll(world: World): Promise<Cost> {
  const { ledgers } = dependenciesOf(world.start(RESOLVER.memoryMib), world.config)
  const scan = async () => {
    for await (const _ of ledgers.list(new AbortController().signal));
  }
  const ms = await letPassUntil(scan())
  world.meter.add({ invocations: 1, gibSeconds: (ms / 1000) * (RESOLVER.memoryMib / 1024) })
  return costOf(world, ms, 1)
}

/**
 * That many workspaces in random places in which a promotion died, due since some moment of the last minute.
 * @param group looks at those of one schedule alone: what the instances work on has nothing in common, neither workspaces nor
 *   shards of the index, so that each may be simulated by itself
 */
export async function overdue(
  world: World,
  { count, how, group }: { count: number; how: 'now' | 'before'; group?: number },
): Promise<Cost & { runs: number }> {
  const leftovers = await plant(world, count, group)
  const startedMs = clock.now()
  for (let minutes = 1; ; minutes++) {
    const runs = startMinute(world, how, group)
    await letPassUntil(Promise.all(runs.map(({ ended }) => ended)))
    const ms = clock.now() - startedMs
    if (await world.prepare((dynamoDb) => isHealed(leftovers, read(dynamoDb), world.population, world.config))) {
      return { ...costOf(world, ms, runs.length), runs: minutes }
    }
    await clock.runUntil(startedMs + minutes * MINUTE_MS)
  }
}

/** Different workspaces, anywhere. */
export function randomWorkspaces({ workspaces }: Population, count: number, seed = SEED): number[] {
  const random = createRandom(seed)
  const chosen = new Set<number>()
  while (chosen.size < Math.min(count, workspaces)) chosen.add(Math.floor(random() * workspaces))
  return [...chosen]
}

async function plant(world: World, count: number, group: number | undefined): Promise<Leftover[]> {
  const { population, config } = world
  const random = createRandom(SEED + 1)
  const leftovers = randomWorkspaces(population, count).map((workspace) => ({
    workspace,
    document: population.documentsIn(workspace) + 1,
    // A third of them before their reservation was open.
    diedAfter: random() < 1 / 3 ? ('take' as const) : ('unmark' as const),
    leaseExpiresAtMs: Math.floor(clock.now() - random() * MINUTE_MS),
  }))
  const shards = group === undefined ? CHECK_SHARDS : groupsOf(CHECK_SHARDS)[group]
  const own = leftovers.filter(({ workspace }) => shards?.includes(Number(checkShardOf(workspaceIdOf(workspace)))))
  await world.prepare(async (dynamoDb) => {
    for (const leftover of own) await plantLeftover(leftover, read(dynamoDb), population, config)
  })
  // Longer than indexes are behind.
  await clock.runUntil(clock.now() + 1000)
  return own
}

function startMinute(world: World, how: 'now' | 'before', group?: number): Run[] {
  if (how === 'before') return [startRunAsBefore(world)]
  const groups = groupsOf(CHECK_SHARDS).filter((_, index) => group === undefined || index === group)
  return groups.map((shards) => startRun(world, shards))
}

function costOf({ meter }: World, ms: number, instances: number): Cost {
  return { ...meter.spent, seconds: ms / 1000, dollars: dollarsOf(meter.spent), instances }
}

/** As the DynamoDB that holds what was written answers. */
export function read(dynamoDb: World['stores']['dynamoDb']) {
  return {
    async execute(operation: string, input: Record<string, unknown>) {
      const { statusCode, json } = await dynamoDb.execute(operation, input)
      if (statusCode !== 200) throw new Error(json)
      return JSON.parse(json)
    },
  }
}
