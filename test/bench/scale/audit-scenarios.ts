import { playRound, readAuditDefinition } from '../../../infra/audit/round.ts'
import { createReadPace, paceReads } from '../../../lib/aws/read-pace.ts'
import { type AuditTask, performAuditTask, type RoundReport } from '../../../lib/maintenance/audit-round.ts'
import { type FindingKind, findingId } from '../../../lib/maintenance/findings.ts'
import { createRandom } from '../statistics.ts'
import { plantLeftover } from './leftovers.ts'
import { dollarsOf, type Spent } from './meter.ts'
import { createPopulation, type Plant, type Population } from './population.ts'
import { randomWorkspaces, read } from './resolver-scenarios.ts'
import { letPassUntil } from './runs.ts'
import { clock, dependenciesOf, type World } from './world.ts'

export interface RoundOptions {
  memoryMib: number
  /** After which a slice ends by itself. */
  sliceMs: number
  /** Of the tasks whose process is killed on the way. */
  killedShare: number
}

export interface Round extends Spent {
  seconds: number
  dollars: number
  instances: number
  workspaces: number
  documents: number
  shardsIncomplete: number
  /** Tasks of the engine that were begun, and those that were killed. */
  tasks: number
  killed: number
  /** Each once, by kind. */
  found: Partial<Record<FindingKind, number>>
  /** Processor time of this machine for each document, in microseconds: the stores' part is in it. */
  cpuMicrosPerDocument: number
}

const SEED = 23
/** Step Functions, standard: two transitions for each task; the few of the round itself are left out. */
const TRANSITIONS_OF_TASK = 2
const { signal } = new AbortController()

/** A population in which random workspaces have one thing wrong each. */
export function plantFindings(
  { workspaces, documentsIn }: Pick<Population, 'workspaces' | 'documentsIn'>,
  count: number,
): Population {
  const random = createRandom(SEED)
  const bare = createPopulation({ workspaces, documentsIn })
  const kinds = [
    'drift',
    'without_ledger',
    'document_without_object',
    'object_without_document',
    'wrong_size',
    'unlisted_document',
    'old_upload',
    'expired_reservation',
  ] as const
  const plants = new Map(
    randomWorkspaces(bare, count, SEED + 1).map((workspace, index): [number, Plant] => {
      const kind = kinds[index % kinds.length] ?? 'drift'
      return [workspace, { kind, document: Math.floor(random() * documentsIn(workspace)) } as Plant]
    }),
  )
  return { ...bare, plants }
}

/** A whole round: the deployed definition, the function's own tasks, on the virtual clock. */
export async function auditRound(world: World, { memoryMib, sliceMs, killedShare }: RoundOptions): Promise<Round> {
  const { config, population, meter } = world
  const { shards, readsPerSecond, roundHours } = config.audit
  await plantReservations(world)
  const random = createRandom(SEED + 2)
  const found = new Map<string, FindingKind>()
  const counts = { tasks: 0, killed: 0, atOnce: 0, most: 0 }

  const invoke = async (task: AuditTask): Promise<unknown> => {
    const instance = world.start(memoryMib)
    const pace = createReadPace({ unitsPerSecond: readsPerSecond / shards })
    paceReads({ dynamoDb: instance.dynamoDb, s3: instance.s3 }, pace)
    const deps = {
      ...dependenciesOf(instance, config),
      metrics: { publish() {} },
      totalShards: shards,
      roundMs: roundHours * 3_600_000,
      countWorkspaces: async () => population.workspaces,
      spentUnits: () => pace.spentUnits,
    }
    const endAtMs = performance.now() + sliceMs
    const options = {
      repair: false,
      deleteLostDocuments: false,
      isOver: () => performance.now() >= endAtMs,
      onFinding: (finding: Parameters<typeof findingId>[0]) => void found.set(findingId(finding), finding.kind),
    }
    counts.tasks++
    counts.most = Math.max(counts.most, ++counts.atOnce)
    const startedMs = clock.now()
    try {
      const work = performAuditTask(task, options, deps, signal)
      if (random() >= killedShare) return await work
      counts.killed++
      return await Promise.race([work, killed(random() * sliceMs, instance)])
    } finally {
      counts.atOnce--
      meter.add({ invocations: 1, gibSeconds: ((clock.now() - startedMs) / 1000) * (memoryMib / 1024) })
    }
  }
  const cpuBefore = process.cpuUsage()
  const round = playRound({
    definition: readAuditDefinition(),
    roundId: 'round-1',
    invoke,
    signal,
  })
  const ms = await letPassUntil(round)
  const { user } = process.cpuUsage(cpuBefore)
  const report = (await round) as RoundReport
  const byKind: Round['found'] = {}
  for (const kind of found.values()) byKind[kind] = (byKind[kind] ?? 0) + 1
  return {
    ...meter.spent,
    seconds: ms / 1000,
    dollars: dollarsOf({ ...meter.spent, transitions: counts.tasks * TRANSITIONS_OF_TASK }),
    instances: counts.most,
    workspaces: report.workspaces,
    documents: report.documents,
    shardsIncomplete: report.shardsIncomplete,
    tasks: counts.tasks,
    killed: counts.killed,
    found: byKind,
    cpuMicrosPerDocument: user / Math.max(1, report.documents),
  }
}

async function killed(afterMs: number, instance: { kill(): void }): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  instance.kill()
  // As Lambda tells Step Functions of a process that ended.
  throw Object.assign(new Error('RequestId: … Process exited before completing request'), { name: 'Runtime.ExitError' })
}

/** Of processes that died hours ago, in workspaces that the index has lost. */
async function plantReservations(world: World): Promise<void> {
  const { population, config } = world
  const leaseExpiresAtMs = clock.now() - 3 * 3_600_000
  await world.prepare(async (dynamoDb) => {
    for (const [workspace, { kind }] of population.plants) {
      if (kind !== 'expired_reservation') continue
      const document = population.documentsIn(workspace)
      const leftover = { workspace, document, diedAfter: 'unmark', leaseExpiresAtMs } as const
      await plantLeftover(leftover, read(dynamoDb), population, config)
    }
  })
}
