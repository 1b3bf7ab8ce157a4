import { readServiceDefinition, type ServiceDefinition } from '../../../infra/local/service-definition.ts'
import { readConfig } from '../../../lib/config.ts'
import type { Bench, BenchContext } from '../bench.ts'
import { lambdaEnvironment, ROOT } from '../bundles.ts'
import { auditRows, type Rounds } from '../scale/audit-rows.ts'
import { type CostInRuns, type Idle, idleRows, lateRow, overdueRows, together } from '../scale/resolver-rows.ts'
import type { Lateness, Load } from '../scale/sustained.ts'
import { startWorker, type Worker } from '../worker.ts'
import type { ScaleSimulatorMethods } from '../workers/scale-simulator.ts'

const WORKSPACES = [1e3, 1e4, 1e5, 1e6]
const MOST_WORKSPACES = 1e6
/** As many schedules as serverless.yml has. */
const RESOLVER_GROUPS = 4
const AUDIT_MEMORY_MIB = 512
const SLICE_MS = 240_000

interface Sizes {
  /** The most workspaces that are read one by one, for comparison. */
  scanned: number
  overdue: number
  load: Load
  /** Workspaces and documents of each. */
  small: { workspaces: number; documents: number }
  large: { workspaces: number; documents: number }
  killed: { workspaces: number; documents: number; findings: number; sliceMs: number; killedShare: number }
}

const FULL: Sizes = {
  scanned: 1e5,
  overdue: 10_000,
  load: { perSecond: 1000, busyWorkspaces: 2000, killedShare: 0.01, killedRunsShare: 0, seconds: 40 },
  small: { workspaces: 1000, documents: 3 },
  large: { workspaces: 8, documents: 10_000 },
  killed: { workspaces: 1200, documents: 3, findings: 1000, sliceMs: 1000, killedShare: 0.2 },
}
/** Enough to show that it works. */
const QUICK: Sizes = {
  scanned: 1e4,
  overdue: 100,
  load: { ...FULL.load, perSecond: 10, busyWorkspaces: 200, seconds: 130 },
  small: { workspaces: 100, documents: 3 },
  large: { workspaces: 8, documents: 1000 },
  killed: { workspaces: 100, documents: 3, findings: 40, sliceMs: 200, killedShare: 0.2 },
}
const withKilledRuns = (load: Load): Load => ({
  ...load,
  perSecond: load.perSecond / 10,
  busyWorkspaces: load.busyWorkspaces / 10,
  killedShare: load.killedShare * 10,
  killedRunsShare: 0.1,
})
/** A simulation of minutes takes minutes. */
const CALL_LIMIT_MS = 3_600_000

type Simulator = Worker<ScaleSimulatorMethods>

interface Found {
  idle: Record<number, Idle>
  overdue: { now: CostInRuns; before: CostInRuns }
  sustained: Lateness
  /** A tenth of the load, and of the resolver's runs killed. */
  ownKilled: Lateness
  rounds: Rounds
}

/**
 * Resolver and audit as they ship, with their adapters and the SDK's clients, in as many processes as the template starts, on
 * a virtual clock: on stores that answer and charge as DynamoDB and S3 do, and hold what is computed from its number.
 */
export const scale: Bench = {
  name: 'scale',
  title: 'Any number of workspaces and documents: resolver and audit',
  isExact: true,
  async run(context) {
    const definition = await readServiceDefinition(ROOT, 'local')
    // The local stage audits with one shard; a deployed one has the defaults.
    const { AUDIT_SHARDS: _, ...environment } = definition.environment
    const env = { ...lambdaEnvironment('http://unused'), ...environment }
    const sizes = context.isQuick ? QUICK : FULL
    const start = () =>
      startWorker<ScaleSimulatorMethods>('workers/scale-simulator.ts', { env, callLimitMs: CALL_LIMIT_MS })
    // No time is measured in them, so that all processors may be busy.
    const simulators = await Promise.all(Array.from({ length: RESOLVER_GROUPS + 2 }, start))
    const found = await simulateAll(simulators, definition, sizes, context)
    await Promise.all(simulators.map((simulator) => simulator.stop()))
    const settings = { ...readConfig(env).audit, memoryMib: AUDIT_MEMORY_MIB }
    return {
      rows: [
        ...idleRows(found.idle),
        ...overdueRows(sizes.overdue, found.overdue),
        lateRow(sizes.load, found.sustained),
        lateRow(withKilledRuns(sizes.load), found.ownKilled),
        ...auditRows(found.rounds, sizes.killed.findings, WORKSPACES, settings),
      ],
      figures: { ...found },
    }
  },
}

async function simulateAll(
  simulators: Simulator[],
  definition: ServiceDefinition,
  sizes: Sizes,
  { progress }: BenchContext,
): Promise<Found> {
  const calls = simulators.map((simulator): Simulator['call'] => (name, argument) => {
    progress(`${name} ${JSON.stringify({ ...(argument as object), definition: undefined })}`)
    return simulator.call(name, argument)
  })
  const [ofLoad, ofAudit, ...ofResolver] = calls as [Simulator['call'], Simulator['call'], ...Simulator['call'][]]
  const [resolver, load, rounds] = await Promise.all([
    simulateResolver(ofResolver, definition, sizes),
    simulateLoad(ofLoad, definition, sizes),
    simulateAudit(ofAudit, definition, sizes),
  ])
  return { ...resolver, ...load, rounds }
}

/** @param calls one for each of its instances */
async function simulateResolver(
  calls: Simulator['call'][],
  definition: ServiceDefinition,
  { scanned, overdue: count }: Sizes,
): Promise<Pick<Found, 'idle' | 'overdue'>> {
  const [call] = calls as [Simulator['call']]
  const idle: Found['idle'] = {}
  for (const workspaces of WORKSPACES) {
    const of = { workspaces, definition }
    idle[workspaces] = {
      now: await call('idle', { ...of, how: 'now' }),
      before: await call('idle', { ...of, how: 'before' }),
      ...(workspaces <= scanned && { scan: await call('scanAll', of) }),
    }
  }
  const of = { workspaces: MOST_WORKSPACES, definition }
  const parts = calls.map((each, group) => each('overdue', { ...of, count, how: 'now', group }))
  const now = together(await Promise.all(parts))
  const before = await call('overdue', { ...of, count: count / 10, how: 'before' })
  return { idle, overdue: { now, before } }
}

async function simulateLoad(
  call: Simulator['call'],
  definition: ServiceDefinition,
  { load }: Sizes,
): Promise<Pick<Found, 'sustained' | 'ownKilled'>> {
  const of = { workspaces: MOST_WORKSPACES, definition }
  const sustained = await call('sustain', { ...of, load })
  return { sustained, ownKilled: await call('sustain', { ...of, load: withKilledRuns(load) }) }
}

async function simulateAudit(
  call: Simulator['call'],
  definition: ServiceDefinition,
  { small, large, killed }: Sizes,
): Promise<Rounds> {
  const rest = { findings: 0, sliceMs: SLICE_MS, killedShare: 0, memoryMib: AUDIT_MEMORY_MIB, definition }
  return {
    killed: await call('round', { ...rest, ...killed }),
    small: await call('round', { ...rest, ...small }),
    large: await call('round', { ...rest, ...large }),
  }
}
